import { erc20Abi, getAbiItem, toEventSelector, zeroAddress } from 'viem'
import { type Log, quantity } from './read-answer.ts'

export const TRANSFER_TOPIC = toEventSelector(getAbiItem({ abi: erc20Abi, name: 'Transfer' }))

/** The address in the 32 bytes of a topic. */
const addressIn = (topic: string): string => `0x${topic.slice(-40)}`
export const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

export interface Arrival {
  /** Null for newly issued money, which nobody sent. */
  readonly payer: string | null
  readonly amount: bigint
  readonly log: Log
}

/**
 * The USDC that a log brought into the treasury, or nothing. Only the token's own address is believed, and a transfer of
 * nothing is none: anybody can make one in anybody's name.
 */
const arrivalOf = (log: Log, usdc: string, treasury: string): Arrival | undefined => {
  const [kind, from, to, ...more] = log.topics
  if (log.address !== usdc || kind !== TRANSFER_TOPIC) return undefined
  if (from === undefined || to === undefined || more.length > 0 || log.data.length !== 66) return undefined
  const amount = quantity(log.data)
  if (addressIn(to) !== treasury || amount === 0n) return undefined
  const payer = addressIn(from)
  return { payer: payer === zeroAddress ? null : payer, amount, log }
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
  const all = logs.flatMap((log) => arrivalOf(log, usdc, treasury) ?? [])
  const foreign = all.filter(({ payer }) => payer === null || !own.has(payer))
  return { foreign, hasOwn: foreign.length < all.length }
}

export const total = (arrivals: readonly Arrival[]): bigint =>
  arrivals.reduce((sum, { amount }) => sum + amount, 0n)

/** The one payer of all of them; undefined when there are several. */
export const onePayer = (arrivals: readonly Arrival[]): string | null | undefined => {
  const payers = new Set(arrivals.map(({ payer }) => payer))
  return payers.size === 1 ? [...payers][0] : undefined
}
