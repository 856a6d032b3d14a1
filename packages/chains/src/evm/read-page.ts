import type { Node } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { type Block, type Log, quantity, readBlock, readLogs } from './read-answer.ts'
import { callAll, callEach, callInParts, resultOf } from './rpc.ts'
import type { EvmSettings } from './settings.ts'
import type { WatchPosition } from './watch-position.ts'

/** Most providers answer for at least so many blocks at once. */
const BLOCKS_AT_ONCE = 1_000
/** Where a first watch begins: 5.5 hours on a chain with a block every two seconds. */
const FIRST_LOOK_BACK = 10_000n
/** Not what a limit of requests is called: asking for less at once would only ask more often. */
const TOO_MUCH =
  /range|too many (?:logs|results|blocks)|too (?:large|big)|more than \d+ results|response size/i

/** Where the chain stands, as one node sees it. */
export interface View {
  readonly head: bigint
  /** Below zero on a chain so young that nothing is final. */
  readonly finalHeight: bigint
}

/** What a walk over the token's logs is about. */
export interface Walk<Move> {
  /** By which the node chooses the logs. */
  readonly topics: readonly (string | null)[]
  /** Nothing above this block is read. */
  readonly upTo: (view: View) => bigint
  /** What in these logs counts. */
  readonly pick: (logs: readonly Log[]) => readonly Move[]
}

/** All that one transaction moved: that is what is claimed or paid. */
export interface Moved<Move> {
  readonly reference: string
  readonly moves: readonly Move[]
  readonly at: Date
  readonly block: Log['block']
  readonly final: boolean
}

export interface Page<Move> {
  readonly moved: readonly Moved<Move>[]
  /** The very position that was given when there is nothing new. */
  readonly position: WatchPosition | undefined
  /** Whether the newest block there was is part of it. */
  readonly isEnd: boolean
}

interface Range {
  readonly last: Block
  readonly logs: readonly Log[]
  /** Whether the chain below the range is still the one that was read before. */
  readonly isAnchored: boolean
}

interface Start {
  readonly from: bigint
  readonly afterIndex: bigint
  /** The position from which the range goes on; undefined when it does not follow on what was read. */
  readonly anchor: WatchPosition | undefined
}

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const hexadecimal = (height: bigint): string => `0x${height.toString(16)}`

const viewOf = async (settings: EvmSettings, node: Node): Promise<View> => {
  const [head, final] = await callEach(node, settings.chainId, [
    ['eth_blockNumber'],
    blockAt(settings.finalityTag),
  ])
  return { head: quantity(resultOf(head)), finalHeight: readFinalBlock(final)?.height ?? -1n }
}

/** The first block to read, or undefined when this node does not yet know the one read last. */
const startOf = async (
  settings: EvmSettings,
  node: Node,
  position: WatchPosition | undefined,
  view: View,
  end: bigint,
): Promise<Start | undefined> => {
  if (position === undefined) {
    const from = settings.watchFrom ?? most(end - FIRST_LOOK_BACK, 0n)
    return { from, afterIndex: -1n, anchor: undefined }
  }
  const [answer] = await callAll(node, settings.chainId, [blockAt(position.height)])
  const block = readBlock(answer)
  if (block === undefined) return undefined
  // A reorganisation took back what was read: all that was not final then is read again, whatever is final by now.
  if (block.hash !== position.hash) {
    const from = least(position.open ?? view.finalHeight + 1n, position.height)
    return { from, afterIndex: -1n, anchor: undefined }
  }
  if (position.index === undefined) return { from: position.height + 1n, afterIndex: -1n, anchor: position }
  return { from: position.height, afterIndex: position.index, anchor: position }
}

/**
 * The logs and the range's last block, in one request: a node that lacks the block would lack its logs in silence. The
 * block read before comes last: if it still stands then, nothing below the range changed while the range was read.
 */
const readRange = async (
  settings: EvmSettings,
  node: Node,
  topics: Walk<unknown>['topics'],
  { from, anchor }: Start,
  to: bigint,
): Promise<Range> => {
  const filter = { address: settings.usdc, topics, fromBlock: hexadecimal(from), toBlock: hexadecimal(to) }
  const [lastAnswer, logs, anchorAnswer] = await callEach(node, settings.chainId, [
    blockAt(to),
    ['eth_getLogs', filter],
    ...(anchor === undefined ? [] : [blockAt(anchor.height)]),
  ])
  // A crowded range, or a provider with a smaller one: half of it, down to a single block.
  if (logs !== undefined && 'error' in logs && TOO_MUCH.test(logs.error.message) && to > from)
    return readRange(settings, node, topics, { from, anchor, afterIndex: -1n }, (from + to) / 2n)
  const last = readBlock(resultOf(lastAnswer))
  if (last === undefined) throw new Error(`the node does not know block ${to}`)
  const isAnchored = anchor === undefined || readBlock(resultOf(anchorAnswer))?.hash === anchor.hash
  return { last, logs: readLogs(resultOf(logs)), isAnchored }
}

/** Some nodes say in the log itself when its block was made; the others are asked for the block. */
const timesOf = async (
  settings: EvmSettings,
  node: Node,
  logs: readonly Log[],
): Promise<Map<string, Date>> => {
  const times = new Map<string, Date>()
  for (const { at, block } of logs) if (at !== undefined) times.set(block.hash, at)
  const missing = [...new Set(logs.map(({ block }) => block.hash))].filter((hash) => !times.has(hash))
  const calls = missing.map((hash) => ['eth_getBlockByHash', hash, false] as const)
  for (const answer of await callInParts(node, settings.chainId, calls)) {
    const block: Block | undefined = readBlock(answer)
    if (block === undefined) throw new Error('the node no longer knows the block of a log')
    times.set(block.hash, block.at)
  }
  return times
}

type Group<Move> = readonly [Move, ...Move[]]

const byTransaction = <Move extends { readonly log: Log }>(
  moves: readonly Move[],
): readonly Group<Move>[] => {
  const groups = new Map<string, [Move, ...Move[]]>()
  for (const move of moves) {
    const group = groups.get(move.log.transaction)
    if (group === undefined) groups.set(move.log.transaction, [move])
    else group.push(move)
  }
  return [...groups.values()]
}

/** A page of the token's transfers after a position, through one node, a transaction at a time. */
export const readPage = async <Move extends { readonly log: Log }>(
  settings: EvmSettings,
  node: Node,
  walk: Walk<Move>,
  position: WatchPosition | undefined,
  limit: number,
): Promise<Page<Move>> => {
  const view = await viewOf(settings, node)
  const end = walk.upTo(view)
  const start = await startOf(settings, node, position, view, end)
  if (start === undefined || start.from > end) return { moved: [], position, isEnd: true }

  const blocks = BigInt(settings.watchBlocks ?? BLOCKS_AT_ONCE)
  const to = least(start.from + blocks - 1n, end)
  const { last, logs, isAnchored } = await readRange(settings, node, walk.topics, start, to)
  // The chain turned under the reading. Read anew, for a page without news would be taken for the end.
  if (!isAnchored) return readPage(settings, node, walk, position, limit)

  const unread = byTransaction(walk.pick(logs)).filter(
    (group) =>
      group[0].log.block.height > start.from || (group.at(-1) ?? group[0]).log.index > start.afterIndex,
  )
  const page = unread.slice(0, Math.max(1, limit))
  const times = await timesOf(
    settings,
    node,
    page.map(([move]) => move.log),
  )
  const moved = page.map((moves): Moved<Move> => {
    const { block, transaction } = moves[0].log
    const at = times.get(block.hash)
    if (at === undefined) throw new Error('a log has no time')
    return { reference: transaction, moves, at, block, final: view.finalHeight >= block.height }
  })
  const cut = page.length < unread.length ? page.at(-1)?.at(-1)?.log : undefined
  const open = view.finalHeight + 1n
  const reached: WatchPosition =
    cut === undefined
      ? { height: last.height, hash: last.hash, index: undefined, open }
      : { ...cut.block, index: cut.index, open }
  return { moved, position: reached, isEnd: cut === undefined && last.height >= end }
}
