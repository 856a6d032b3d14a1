import type { FinalBlock, NewMovements } from '@market/core/ports/chain'
import { smaller } from '../bigints.ts'
import type { Node } from '../nodes/node-pool.ts'
import type { LogPosition } from './log-position.ts'
import { type Log, quantity } from './parse-rpc.ts'
import { type BlockRange, byTransaction, isTooLarge, movementsIn, readRange } from './read-movements.ts'
import { callAll } from './rpc.ts'
import { blocksPerRequest, type EvmSettings } from './settings.ts'

type NewPage = Omit<NewMovements, 'position' | 'height'> & { readonly position: LogPosition }

/** A range that is too large for the node is halved, down to a single block. */
const readUpTo = async (
  settings: EvmSettings,
  node: Node,
  range: { readonly from: bigint; readonly anchor: Log['block'] },
  to: bigint,
): Promise<BlockRange> => {
  try {
    return await readRange(settings, node, { ...range, to })
  } catch (error) {
    if (!isTooLarge(error) || to <= range.from) throw error
    return readUpTo(settings, node, range, (range.from + to) / 2n)
  }
}

/**
 * Reads a page of what moved after a position from one node. A reorganization that replaced the last block sends it back to the
 * final block. Undefined when the node is behind.
 */
export const readNew = async (
  settings: EvmSettings,
  node: Node,
  final: FinalBlock,
  after: LogPosition,
  limit: number,
): Promise<NewPage | undefined> => {
  const [headResponse] = await callAll(node, settings.chainId, [['eth_blockNumber']])
  const head = quantity(headResponse)
  const { height, hash, index } = after
  if (head < height) return undefined
  const from = index === undefined ? height + 1n : height
  if (from > head) return { incoming: [], outgoing: [], position: after, isEnd: true, isReplaced: false }
  const to = smaller(from + blocksPerRequest(settings) - 1n, head)
  const { last, logs, isAnchored } = await readUpTo(settings, node, { from, anchor: { height, hash } }, to)
  if (!isAnchored) {
    if (hash === final.hash) throw new Error(`the node does not have the final block ${final.height}`)
    const page = await readNew(settings, node, final, { ...final, index: undefined }, limit)
    return page && { ...page, isReplaced: true }
  }
  const unread = byTransaction(logs).filter(
    (own) => own[0].block.height > height || (own.at(-1) ?? own[0]).index > (index ?? -1n),
  )
  const page = unread.slice(0, Math.max(1, limit))
  const cut = page.length < unread.length ? page.at(-1)?.at(-1) : undefined
  return {
    ...(await movementsIn(settings, node, page, false)),
    position: cut === undefined ? { ...last, index: undefined } : { ...cut.block, index: cut.index },
    isEnd: cut === undefined && last.height >= head,
    isReplaced: false,
  }
}
