import { usdc as money } from '@market/kernel/money'
import type { SeenTransfer } from '@market/market/ports/chain'
import type { Node } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { type Block, type Log, quantity, readBlock, readLogs } from './read-answer.ts'
import { callAll, callEach, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings, ownKeys } from './settings.ts'
import { type Arrival, arrivalsIn, onePayer, TRANSFER_TOPIC, topicOf, total } from './transfers.ts'
import type { WatchPosition } from './watch-position.ts'

/** Most providers answer for at least so many blocks at once. */
const BLOCKS_AT_ONCE = 1_000
/** Where a first watch begins: 5.5 hours on a chain with a block every two seconds. */
const FIRST_LOOK_BACK = 10_000n
const MOST_BLOCKS_ASKED_TOGETHER = 50
/** Not what a limit of requests is called: asking for less at once would only ask more often. */
const TOO_MUCH =
  /range|too many (?:logs|results|blocks)|too (?:large|big)|more than \d+ results|response size/i

interface Page {
  readonly transfers: readonly SeenTransfer[]
  readonly position: WatchPosition | undefined
}

interface Range {
  readonly last: Block
  readonly logs: readonly Log[]
}

interface View {
  /** Nothing above it is read. */
  readonly confirmed: bigint
  readonly finalHeight: bigint
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const hexadecimal = (height: bigint): string => `0x${height.toString(16)}`

const viewOf = async (settings: EvmSettings, node: Node): Promise<View> => {
  const [headAnswer, finalAnswer] = await callEach(node, settings.chainId, [
    ['eth_blockNumber'],
    blockAt(settings.finalityTag),
  ])
  const head = quantity(resultOf(headAnswer))
  const finalHeight = readFinalBlock(finalAnswer)?.height ?? -1n
  const depths = settings.confirmations.map(({ blocks }) =>
    blocks === 'final' ? finalHeight : head - BigInt(blocks) + 1n,
  )
  // What is final is confirmed, however many blocks a rule asks for.
  return { confirmed: most(depths.reduce(least, head), finalHeight), finalHeight }
}

/** The first block to read, or undefined when this node does not yet know the one read last. */
const startOf = async (
  settings: EvmSettings,
  node: Node,
  position: WatchPosition | undefined,
  view: View,
): Promise<{ readonly from: bigint; readonly afterIndex: bigint } | undefined> => {
  if (position === undefined)
    return { from: settings.watchFrom ?? most(view.confirmed - FIRST_LOOK_BACK, 0n), afterIndex: -1n }
  const [answer] = await callAll(node, settings.chainId, [blockAt(position.height)])
  const block = readBlock(answer)
  if (block === undefined) return undefined
  // A reorganisation went deeper than our confirmations: everything that is not final is read again.
  if (block.hash !== position.hash)
    return { from: least(view.finalHeight + 1n, position.height), afterIndex: -1n }
  if (position.index === undefined) return { from: position.height + 1n, afterIndex: -1n }
  return { from: position.height, afterIndex: position.index }
}

/** The logs and the range's last block, in one request: a node that lacks the block would lack its logs in silence. */
const readRange = async (settings: EvmSettings, node: Node, from: bigint, to: bigint): Promise<Range> => {
  const filter = {
    address: settings.usdc,
    topics: [TRANSFER_TOPIC, null, topicOf(settings.treasury)],
    fromBlock: hexadecimal(from),
    toBlock: hexadecimal(to),
  }
  const [lastAnswer, logs] = await callEach(node, settings.chainId, [blockAt(to), ['eth_getLogs', filter]])
  // A crowded range, or a provider with a smaller one: half of it, down to a single block.
  if (logs !== undefined && 'error' in logs && TOO_MUCH.test(logs.error.message) && to > from)
    return readRange(settings, node, from, (from + to) / 2n)
  const last = readBlock(resultOf(lastAnswer))
  if (last === undefined) throw new Error(`the node does not know block ${to}`)
  return { last, logs: readLogs(resultOf(logs)) }
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
  for (let start = 0; start < missing.length; start += MOST_BLOCKS_ASKED_TOGETHER) {
    const hashes = missing.slice(start, start + MOST_BLOCKS_ASKED_TOGETHER)
    const calls = hashes.map((hash) => ['eth_getBlockByHash', hash, false] as const)
    for (const answer of await callAll(node, settings.chainId, calls)) {
      const block: Block | undefined = readBlock(answer)
      if (block === undefined) throw new Error('the node no longer knows the block of a log')
      times.set(block.hash, block.at)
    }
  }
  return times
}

/** One transfer per transaction: that is what is claimed. */
const byTransaction = (arrivals: readonly Arrival[]): readonly (readonly [Arrival, ...Arrival[]])[] => {
  const groups = new Map<string, [Arrival, ...Arrival[]]>()
  for (const arrival of arrivals) {
    const group = groups.get(arrival.log.transaction)
    if (group === undefined) groups.set(arrival.log.transaction, [arrival])
    else group.push(arrival)
  }
  return [...groups.values()]
}

/** A page of what came into the treasury, through one node. */
export const watchTreasury = async (
  settings: EvmSettings,
  node: Node,
  position: WatchPosition | undefined,
  limit: number,
): Promise<Page> => {
  const view = await viewOf(settings, node)
  const start = await startOf(settings, node, position, view)
  if (start === undefined || start.from > view.confirmed) return { transfers: [], position }

  const blocks = BigInt(settings.watchBlocks ?? BLOCKS_AT_ONCE)
  const to = least(start.from + blocks - 1n, view.confirmed)
  const { last, logs } = await readRange(settings, node, start.from, to)
  const { foreign } = arrivalsIn(
    logs,
    addressKey(settings.usdc),
    addressKey(settings.treasury),
    ownKeys(settings),
  )
  const unread = byTransaction(foreign).filter(
    (group) =>
      group[0].log.block.height > start.from || (group.at(-1) ?? group[0]).log.index > start.afterIndex,
  )
  const page = unread.slice(0, Math.max(1, limit))
  const times = await timesOf(
    settings,
    node,
    page.map(([arrival]) => arrival.log),
  )
  const transfers = page.map((group): SeenTransfer => {
    const { log } = group[0]
    const at = times.get(log.block.hash)
    if (at === undefined) throw new Error('a log has no time')
    return {
      reference: log.transaction,
      amount: money(total(group)),
      payer: onePayer(group) ?? null,
      at,
      block: log.block,
      final: view.finalHeight >= log.block.height,
    }
  })
  const cut = page.length < unread.length ? page.at(-1)?.at(-1)?.log : undefined
  const reached: WatchPosition =
    cut === undefined
      ? { height: last.height, hash: last.hash, index: undefined }
      : { ...cut.block, index: cut.index }
  return { transfers, position: reached }
}
