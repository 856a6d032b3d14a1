import { erc20Abi, getAbiItem, parseAbiItem, toEventSelector, zeroAddress } from 'viem'
import { type Log, quantity } from './parse-rpc.ts'

export const TRANSFER_TOPIC = toEventSelector(getAbiItem({ abi: erc20Abi, name: 'Transfer' }))

/** EIP-3009 event. The token emits it directly before the Transfer event of an authorized transfer. */
export const AUTHORIZATION_USED_TOPIC = toEventSelector(
  parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)'),
)

/** The address in the 32 bytes of a topic. */
const addressIn = (topic: string): string => `0x${topic.slice(-40)}`
export const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

interface TokenTransfer {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly log: Log
}

/**
 * The USDC transfer in a log, if it is one. Only logs of the token contract count. Transfers of 0 are ignored, because
 * anyone can make them from any address.
 */
const parseTransfer = (log: Log, usdc: string): TokenTransfer | undefined => {
  const [kind, from, to, ...more] = log.topics
  if (log.address !== usdc || kind !== TRANSFER_TOPIC) return undefined
  if (from === undefined || to === undefined || more.length > 0 || log.data.length !== 66) return undefined
  const amount = quantity(log.data)
  return amount === 0n ? undefined : { from: addressIn(from), to: addressIn(to), amount, log }
}

export const hasAuthorization = (logs: readonly Log[], usdc: string): boolean =>
  logs.some(({ address, topics }) => address === usdc && topics[0] === AUTHORIZATION_USED_TOPIC)

/** The amount that an authorization transferred: the Transfer event directly after its AuthorizationUsed event. */
export const amountByAuthorization = (
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
  const transfer = next === undefined ? undefined : parseTransfer(next, usdc)
  return transfer?.from === from && transfer.to === to ? transfer.amount : 0n
}

const parseTransfers = (logs: readonly Log[], usdc: string): readonly TokenTransfer[] =>
  logs.flatMap((log) => parseTransfer(log, usdc) ?? [])

/** Minted and burned USDC has the zero address as sender or receiver. */
const nullIfZero = (address: string): string | null => (address === zeroAddress ? null : address)

export interface ReceivedTransfer {
  /** Its place among all transfers of the transaction to the treasury, from 0. */
  readonly index: number
  /** Null for newly minted USDC. */
  readonly payer: string | null
  readonly amount: bigint
  readonly log: Log
}

export interface ReceivedTransfers {
  /** Transfers from addresses that are not ours. */
  readonly external: readonly ReceivedTransfer[]
  /** Whether there is a transfer from one of our addresses. */
  readonly hasOwn: boolean
  /** What our other addresses sent. */
  readonly ownTotal: bigint
}

/** The transfers of one transaction to the treasury. The index counts our own too, so that no setting changes it. */
export const receivedTransfers = (
  logs: readonly Log[],
  usdc: string,
  treasury: string,
  ownAddresses: ReadonlySet<string>,
): ReceivedTransfers => {
  // fix: transfer-index
  const all = parseTransfers(logs, usdc)
    .filter(({ to }) => to === treasury)
    .toSorted((a, b) => Number(a.log.index - b.log.index))
    .map(({ from, amount, log }, index) => ({ index, payer: nullIfZero(from), amount, log }))
  const external = all.filter(({ payer }) => payer === null || !ownAddresses.has(payer))
  const own = all.filter(({ payer }) => payer !== null && ownAddresses.has(payer))
  const ownTotal = total(own.filter(({ payer }) => payer !== treasury))
  return { external, hasOwn: own.length > 0, ownTotal }
}

export interface SentTransfer {
  /** Its place among all transfers of the transaction from the treasury, from 0. */
  readonly index: number
  /** The nonce of its authorization, in lower case. Null when it has none. */
  readonly mark: string | null
  /** Null for burned USDC. */
  readonly payee: string | null
  readonly amount: bigint
  readonly log: Log
}

const placeOf = ({ transaction, block }: Log, index: bigint): string =>
  `${transaction}:${block.hash}:${index}`

/** The nonces of the treasury's authorizations by the places of their logs. */
const marksOf = (logs: readonly Log[], usdc: string, treasury: string): ReadonlyMap<string, string> =>
  new Map(
    logs.flatMap((log) => {
      const [kind, authorizer, nonce, ...more] = log.topics
      const isUse = kind === AUTHORIZATION_USED_TOPIC && authorizer === topicOf(treasury)
      if (log.address !== usdc || !isUse || nonce === undefined || more.length > 0) return []
      return [[placeOf(log, log.index), nonce]] as const
    }),
  )

/** How many authorizations of an address were used. */
export const countAuthorizations = (logs: readonly Log[], usdc: string, authorizer: string): number =>
  marksOf(logs, usdc, authorizer).size

/** The transfers of one transaction from the treasury to other addresses. */
export const sentTransfers = (
  logs: readonly Log[],
  usdc: string,
  treasury: string,
): readonly SentTransfer[] => {
  const marks = marksOf(logs, usdc, treasury)
  return parseTransfers(logs, usdc)
    .filter(({ from, to }) => from === treasury && to !== treasury)
    .toSorted((a, b) => Number(a.log.index - b.log.index))
    .map(({ to, amount, log }, index) => ({
      index,
      mark: marks.get(placeOf(log, log.index - 1n)) ?? null,
      payee: nullIfZero(to),
      amount,
      log,
    }))
}

export const total = (transfers: readonly { readonly amount: bigint }[]): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n)
