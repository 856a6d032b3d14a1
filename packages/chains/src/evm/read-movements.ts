import type { IncomingTransfer, Movements, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { usdc as money } from '@market/kernel/money'
import type { Node } from '../nodes/node-pool.ts'
import { blockAt } from './evm-nodes.ts'
import { type Block, type Log, readBlock, readLogs } from './parse-rpc.ts'
import { type Call, callEach, callInBatches, type RpcResponse, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings, ownKeys } from './settings.ts'
import {
  AUTHORIZATION_USED_TOPIC,
  receivedTransfers,
  sentTransfers,
  TRANSFER_TOPIC,
  topicOf,
  total,
} from './transfers.ts'

/** Errors for a too large result. Rate limits are not included: smaller ranges would only cause more requests. */
const REFUSED_RANGE =
  /range|too many (?:logs|results|blocks)|too (?:large|big)|more than \d+ results|response size/i

const TOO_LARGE = 'the node returns no logs for so many blocks'

/** Whether a part of the range may be read. Without a limit of the node, our own limit ends the response. */
export const isTooLarge = (failure: unknown): boolean =>
  failure instanceof Error &&
  (failure.message.includes(TOO_LARGE) || failure.message.includes('the response is larger than'))

/**
 * Of one block, which cannot be read in parts: anybody can fill it with transfers of nothing. One costs at least 4,500 gas and has
 * less than 1 KB, so a block of 500 million gas has less than 111 MB.
 */
const MAX_BYTES_OF_BLOCK = 128 * 1024 * 1024

/** Blocks of one node, with all of the token's logs that concern the treasury. */
export interface BlockRange {
  readonly last: Log['block'] & { readonly at: Date }
  readonly logs: readonly Log[]
  /** Whether the block before the range is still the one that was read earlier. */
  readonly isAnchored: boolean
}

const toHex = (height: bigint): string => `0x${height.toString(16)}`

const logsResponse = (response: RpcResponse | undefined): readonly Log[] => {
  if (response !== undefined && 'error' in response && REFUSED_RANGE.test(response.error.message))
    throw new Error(`${TOO_LARGE}: ${response.error.message}`)
  return readLogs(resultOf(response))
}

/** A transfer of the treasury to itself is in both lists. */
const merge = (sent: readonly Log[], received: readonly Log[]): readonly Log[] => {
  const keyOf = ({ block, index }: Log): string => `${block.hash}:${index}`
  const known = new Set(sent.map(keyOf))
  return [...sent, ...received.filter((log) => !known.has(keyOf(log)))].toSorted(
    (a, b) => Number(a.block.height - b.block.height) || Number(a.index - b.index),
  )
}

/**
 * Reads the logs and the last block of the range in one request, because a node without that block would silently omit its
 * logs. The anchor is read last: if it is unchanged, nothing below the range changed during the request.
 */
export const readRange = async (
  { chainId, usdc, treasury }: EvmSettings,
  node: Node,
  { from, to, anchor }: { readonly from: bigint; readonly to: bigint; readonly anchor: Log['block'] },
): Promise<BlockRange> => {
  const logsOf = (...topics: readonly (string | readonly string[] | null)[]): Call => [
    'eth_getLogs',
    { address: usdc, topics, fromBlock: toHex(from), toBlock: toHex(to) },
  ]
  const calls = [
    blockAt(to),
    // The authorizations name the payouts of the transfers after them.
    logsOf([TRANSFER_TOPIC, AUTHORIZATION_USED_TOPIC], topicOf(treasury)),
    logsOf(TRANSFER_TOPIC, null, topicOf(treasury)),
    blockAt(anchor.height),
  ]
  // fix: one-large-block
  const maxBytes = from === to ? MAX_BYTES_OF_BLOCK : undefined
  const [lastResponse, sent, received, anchorResponse] = await callEach(node, chainId, calls, maxBytes)
  const last = readBlock(resultOf(lastResponse))
  if (last === undefined) throw new Error(`the node does not have block ${to}`)
  return {
    last: { height: last.height, hash: last.hash, at: last.at },
    logs: merge(logsResponse(sent), logsResponse(received)),
    isAnchored: readBlock(resultOf(anchorResponse))?.hash === anchor.hash,
  }
}

export const byTransaction = (logs: readonly Log[]): readonly (readonly [Log, ...Log[]])[] =>
  [...Map.groupBy(logs, ({ transaction }) => transaction).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others] as const],
  )

/** The marketplace's time of the logs' blocks. Where a log has no timestamp, its block is fetched. */
const timesOf = async (
  { chainId, blockTime = (at) => at }: EvmSettings,
  node: Node,
  logs: readonly Log[],
): Promise<ReadonlyMap<string, Date>> => {
  const times = new Map<string, Date>()
  for (const { at, block } of logs) if (at !== undefined) times.set(block.hash, blockTime(at))
  const missing = [...new Set(logs.map(({ block }) => block.hash))].filter((hash) => !times.has(hash))
  const calls = missing.map((hash) => ['eth_getBlockByHash', hash, false] as const)
  for (const result of await callInBatches(node, chainId, calls)) {
    const block: Block | undefined = readBlock(result)
    if (block === undefined) throw new Error('the node no longer has the block of a log')
    times.set(block.hash, blockTime(block.at))
  }
  return times
}

/** What the logs of some transactions moved. */
export const movementsIn = async (
  settings: EvmSettings,
  node: Node,
  transactions: readonly (readonly [Log, ...Log[]])[],
  final: boolean,
): Promise<Movements & { readonly change: bigint }> => {
  const [asset, treasury, own] = [addressKey(settings.usdc), addressKey(settings.treasury), ownKeys(settings)]
  const times = await timesOf(
    settings,
    node,
    transactions.map(([log]) => log),
  )
  const incoming: IncomingTransfer[] = []
  const outgoing: ObservedOutgoingTransfer[] = []
  let change = 0n
  for (const logs of transactions) {
    const [{ transaction: reference, block }] = logs
    const at = times.get(block.hash)
    if (at === undefined) throw new Error('a log has no block time')
    const received = receivedTransfers(logs, asset, treasury, own)
    const sent = sentTransfers(logs, asset, treasury)
    change += total(received.external) + received.ownTotal - total(sent)
    for (const { index, amount, payer } of received.external)
      incoming.push({
        ...{ reference, index, payer, at, block, final },
        amount: money(amount),
        // Not part of the logs. `findTransfer` reads the transaction.
        attachedData: null,
      })
    for (const { index, mark, payee, amount } of sent)
      outgoing.push({ reference, index, mark, payee, amount: money(amount), at, block })
  }
  return { incoming, outgoing, change }
}
