import { larger, smaller } from '../bigints.ts'
import type { Node } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import type { LogPosition } from './log-position.ts'
import { type Block, type Log, quantity, readBlock, readLogs } from './parse-rpc.ts'
import { callAll, callEach, callInBatches, resultOf } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

/** Most providers allow at least this many blocks per request. */
const DEFAULT_BLOCKS_PER_REQUEST = 1_000
/** Where the first scan starts: 5.5 hours ago on a chain with a block every two seconds. */
const INITIAL_LOOKBACK_BLOCKS = 10_000n
/** Errors for a too large result. Rate limits are not included: smaller ranges would only cause more requests. */
const RANGE_TOO_LARGE =
  /range|too many (?:logs|results|blocks)|too (?:large|big)|more than \d+ results|response size/i

/** The newest and the newest final height of one node. */
export interface ChainHead {
  readonly head: bigint
  /** -1 on a new chain without a final block. */
  readonly finalHeight: bigint
}

/** Which of the token's logs to read. */
export interface LogScan<Move> {
  /** Topic filter of the request. */
  readonly topics: readonly (string | null)[]
  /** The last block to read. */
  readonly upTo: (chainHead: ChainHead) => bigint
  /** Selects the relevant transfers from the logs of one transaction. */
  readonly pick: (logs: readonly Log[]) => readonly Move[]
}

/** All selected transfers of one transaction. */
export interface TransactionMoves<Move> {
  readonly reference: string
  readonly moves: readonly Move[]
  readonly at: Date
  readonly block: Log['block']
  readonly final: boolean
}

export interface Page<Move> {
  readonly transactions: readonly TransactionMoves<Move>[]
  /** The given position when there is nothing new. */
  readonly position: LogPosition | undefined
  /** Whether the page includes the newest block. */
  readonly isEnd: boolean
}

interface Range {
  readonly last: Block
  readonly logs: readonly Log[]
  /** Whether the block before the range is still the one that was read earlier. */
  readonly isAnchored: boolean
}

interface Start {
  readonly from: bigint
  readonly afterIndex: bigint
  /** The position that the range continues from. Undefined when it does not continue an earlier page. */
  readonly anchor: LogPosition | undefined
}

const toHex = (height: bigint): string => `0x${height.toString(16)}`

const readChainHead = async (settings: EvmSettings, node: Node): Promise<ChainHead> => {
  const [head, final] = await callEach(node, settings.chainId, [
    ['eth_blockNumber'],
    blockAt(settings.finalityTag),
  ])
  return { head: quantity(resultOf(head)), finalHeight: readFinalBlock(final)?.height ?? -1n }
}

/** The first block to read. Undefined when this node does not have the last block that was read. */
const startOf = async (
  settings: EvmSettings,
  node: Node,
  position: LogPosition | undefined,
  end: bigint,
): Promise<Start | undefined> => {
  if (position === undefined) {
    const from = settings.watchFrom ?? larger(end - INITIAL_LOOKBACK_BLOCKS, 0n)
    return { from, afterIndex: -1n, anchor: undefined }
  }
  const [response] = await callAll(node, settings.chainId, [blockAt(position.height)])
  const block = readBlock(response)
  if (block === undefined) return undefined
  // A reorganization replaced the last block, so everything that was not final at that time is read again.
  if (block.hash !== position.hash) {
    const from = smaller(position.firstNonFinal, position.height)
    return { from, afterIndex: -1n, anchor: undefined }
  }
  if (position.index === undefined) return { from: position.height + 1n, afterIndex: -1n, anchor: position }
  return { from: position.height, afterIndex: position.index, anchor: position }
}

/**
 * Reads the logs and the last block of the range in one request, because a node without that block would silently omit its
 * logs. The anchor is read last: if it is unchanged, nothing below the range changed during the request.
 */
const readRange = async (
  settings: EvmSettings,
  node: Node,
  topics: LogScan<unknown>['topics'],
  { from, anchor }: Start,
  to: bigint,
): Promise<Range> => {
  const filter = { address: settings.usdc, topics, fromBlock: toHex(from), toBlock: toHex(to) }
  const [lastResponse, logs, anchorResponse] = await callEach(node, settings.chainId, [
    blockAt(to),
    ['eth_getLogs', filter],
    ...(anchor === undefined ? [] : [blockAt(anchor.height)]),
  ])
  // The provider rejects the range as too large: read half of it, down to a single block.
  if (logs !== undefined && 'error' in logs && RANGE_TOO_LARGE.test(logs.error.message) && to > from)
    return readRange(settings, node, topics, { from, anchor, afterIndex: -1n }, (from + to) / 2n)
  const last = readBlock(resultOf(lastResponse))
  if (last === undefined) throw new Error(`the node does not have block ${to}`)
  const isAnchored = anchor === undefined || readBlock(resultOf(anchorResponse))?.hash === anchor.hash
  return { last, logs: readLogs(resultOf(logs)), isAnchored }
}

/** The marketplace's time of the logs' blocks. Where a log has no timestamp, its block is fetched. */
const timesOf = async (
  settings: EvmSettings,
  node: Node,
  logs: readonly Log[],
): Promise<Map<string, Date>> => {
  const { blockTime = (at: Date) => at } = settings
  const times = new Map<string, Date>()
  for (const { at, block } of logs) if (at !== undefined) times.set(block.hash, blockTime(at))
  const missing = [...new Set(logs.map(({ block }) => block.hash))].filter((hash) => !times.has(hash))
  const calls = missing.map((hash) => ['eth_getBlockByHash', hash, false] as const)
  for (const result of await callInBatches(node, settings.chainId, calls)) {
    const block: Block | undefined = readBlock(result)
    if (block === undefined) throw new Error('the node no longer has the block of a log')
    times.set(block.hash, blockTime(block.at))
  }
  return times
}

type Group<Move> = readonly [Move, ...Move[]]

const byTransaction = <Move>(logs: readonly Log[], pick: LogScan<Move>['pick']): readonly Group<Move>[] =>
  [...Map.groupBy(logs, ({ transaction }) => transaction).values()].flatMap((own) => {
    const [first, ...others] = pick(own)
    return first === undefined ? [] : [[first, ...others] as const]
  })

/** Reads a page of the token's transfers after a position from one node, grouped by transaction. */
export const readLogPage = async <Move extends { readonly log: Log }>(
  settings: EvmSettings,
  node: Node,
  scan: LogScan<Move>,
  position: LogPosition | undefined,
  limit: number,
): Promise<Page<Move>> => {
  const chainHead = await readChainHead(settings, node)
  const end = scan.upTo(chainHead)
  const start = await startOf(settings, node, position, end)
  if (start === undefined || start.from > end) return { transactions: [], position, isEnd: true }

  const blocks = BigInt(settings.watchBlocks ?? DEFAULT_BLOCKS_PER_REQUEST)
  const to = smaller(start.from + blocks - 1n, end)
  const { last, logs, isAnchored } = await readRange(settings, node, scan.topics, start, to)
  // A reorganization happened during the read. Read again, because an empty page would count as the end.
  if (!isAnchored) return readLogPage(settings, node, scan, position, limit)

  const unread = byTransaction(logs, scan.pick).filter(
    (group) =>
      group[0].log.block.height > start.from || (group.at(-1) ?? group[0]).log.index > start.afterIndex,
  )
  const page = unread.slice(0, Math.max(1, limit))
  const times = await timesOf(
    settings,
    node,
    page.map(([move]) => move.log),
  )
  const transactions = page.map((moves): TransactionMoves<Move> => {
    const { block, transaction } = moves[0].log
    const at = times.get(block.hash)
    if (at === undefined) throw new Error('a log has no block time')
    return { reference: transaction, moves, at, block, final: chainHead.finalHeight >= block.height }
  })
  const cut = page.length < unread.length ? page.at(-1)?.at(-1)?.log : undefined
  const firstNonFinal = chainHead.finalHeight + 1n
  const nextPosition: LogPosition =
    cut === undefined
      ? { height: last.height, hash: last.hash, index: undefined, firstNonFinal }
      : { ...cut.block, index: cut.index, firstNonFinal }
  return { transactions, position: nextPosition, isEnd: cut === undefined && last.height >= end }
}
