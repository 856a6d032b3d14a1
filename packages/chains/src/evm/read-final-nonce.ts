import { unavailable } from '@market/kernel/api-error'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { quantity } from './read-answer.ts'
import { least } from './read-page.ts'
import { callEach, resultOf } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

const readThrough = async ({ chainId, finalityTag, treasury }: EvmSettings, node: Node): Promise<bigint> => {
  const [final, count] = await callEach(node, chainId, [
    blockAt(finalityTag),
    ['eth_getTransactionCount', treasury, finalityTag],
  ])
  return readFinalBlock(final) === undefined ? 0n : quantity(resultOf(count))
}

/** How many transactions of the treasury no block can take back any more. */
export const readFinalNonce = async (settings: EvmSettings, nodes: NodePool): Promise<bigint> => {
  // The lowest count wins: what one node does not know as final is not taken for the past.
  const asked = await nodes.askGood((node) => readThrough(settings, node))
  const counts = (await Promise.allSettled(asked)).flatMap((count) =>
    count.status === 'fulfilled' ? [count.value] : [],
  )
  if (counts.length === 0) throw unavailable(`No node tells the final nonce of ${settings.treasury}`)
  return counts.reduce(least)
}
