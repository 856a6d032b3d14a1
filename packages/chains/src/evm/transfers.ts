import { erc20Abi, getAbiItem, parseAbiItem, toEventSelector, zeroAddress } from 'viem'
import { type Log, quantity } from './read-answer.ts'

export const TRANSFER_TOPIC = toEventSelector(getAbiItem({ abi: erc20Abi, name: 'Transfer' }))

/** What the token says when it moves money by a signature (EIP-3009), just before it says what it moved. */
export const AUTHORIZATION_USED_TOPIC = toEventSelector(
  parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)'),
)

/** The address in the 32 bytes of a topic. */
const addressIn = (topic: string): string => `0x${topic.slice(-40)}`
export const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

interface Movement {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly log: Log
}

/**
 * The USDC that a log moved, or nothing. Only the token's own address is believed, and a transfer of nothing is none:
 * anybody can make one in anybody's name.
 */
const movementOf = (log: Log, usdc: string): Movement | undefined => {
  const [kind, from, to, ...more] = log.topics
  if (log.address !== usdc || kind !== TRANSFER_TOPIC) return undefined
  if (from === undefined || to === undefined || more.length > 0 || log.data.length !== 66) return undefined
  const amount = quantity(log.data)
  return amount === 0n ? undefined : { from: addressIn(from), to: addressIn(to), amount, log }
}

export const hasAuthorization = (logs: readonly Log[], usdc: string): boolean =>
  logs.some(({ address, topics }) => address === usdc && topics[0] === AUTHORIZATION_USED_TOPIC)

/** What one authorization of the payer moved to the payee, if these logs tell of it: what follows right after its use. */
export const movedByAuthorization = (
  logs: readonly Log[],
  usdc: string,
  { from, to, nonce }: { readonly from: string; readonly to: string; readonly nonce: string },
): bigint => {
  const ofToken = logs.filter(({ address }) => address === usdc)
  const used = ofToken.findIndex(
    ({ topics: [kind, payer, key] }) =>
      kind === AUTHORIZATION_USED_TOPIC && payer === topicOf(from) && key === nonce,
  )
  const next = used < 0 ? undefined : ofToken[used + 1]
  const movement = next === undefined ? undefined : movementOf(next, usdc)
  return movement?.from === from && movement.to === to ? movement.amount : 0n
}

const movementsIn = (logs: readonly Log[], usdc: string): readonly Movement[] =>
  logs.flatMap((log) => movementOf(log, usdc) ?? [])

/** Money that is issued or destroyed moves from or to the zero address, behind which is nobody. */
const somebody = (address: string): string | null => (address === zeroAddress ? null : address)

export interface Arrival {
  /** Null for newly issued money, which nobody sent. */
  readonly payer: string | null
  readonly amount: bigint
  readonly log: Log
}

export interface Arrivals {
  /** What others sent. */
  readonly foreign: readonly Arrival[]
  /** Whether anything came from an address of ours. */
  readonly hasOwn: boolean
}

export const arrivalsIn = (
  logs: readonly Log[],
  usdc: string,
  treasury: string,
  own: ReadonlySet<string>,
): Arrivals => {
  const all = movementsIn(logs, usdc)
    .filter(({ to }) => to === treasury)
    .map(({ from, amount, log }) => ({ payer: somebody(from), amount, log }))
  const foreign = all.filter(({ payer }) => payer === null || !own.has(payer))
  return { foreign, hasOwn: foreign.length < all.length }
}

export interface Departure {
  /** Null for money that was destroyed, which nobody got. */
  readonly payee: string | null
  readonly amount: bigint
  readonly log: Log
}

/** What left the treasury. What it sends to itself stays. */
export const departuresIn = (logs: readonly Log[], usdc: string, treasury: string): readonly Departure[] =>
  movementsIn(logs, usdc)
    .filter(({ from, to }) => from === treasury && to !== treasury)
    .map(({ to, amount, log }) => ({ payee: somebody(to), amount, log }))

export const total = (moved: readonly { readonly amount: bigint }[]): bigint =>
  moved.reduce((sum, { amount }) => sum + amount, 0n)

const onlyOne = (names: readonly (string | null)[]): string | null | undefined => {
  const [one, ...more] = new Set(names)
  return more.length === 0 ? one : undefined
}

/** The one payer of all of them; undefined when there are several. */
export const onePayer = (arrivals: readonly Arrival[]): string | null | undefined =>
  onlyOne(arrivals.map(({ payer }) => payer))

/** The one who got all of them; undefined when there are several. */
export const onePayee = (departures: readonly Departure[]): string | null | undefined =>
  onlyOne(departures.map(({ payee }) => payee))
