import { unavailable } from '@market/kernel/api-error'
import { smaller } from '../bigints.ts'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { quantity } from './parse-rpc.ts'
import { callEach, resultOf } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

const readVia = async ({ chainId, finalityTag, treasury }: EvmSettings, node: Node): Promise<bigint> => {
  const [final, count] = await callEach(node, chainId, [
    blockAt(finalityTag),
    ['eth_getTransactionCount', treasury, finalityTag],
  ])
  return readFinalBlock(final) === undefined ? 0n : quantity(resultOf(count))
}

/** The number of final transactions of the treasury. */
export const readFinalNonce = async (settings: EvmSettings, nodes: NodePool): Promise<bigint> => {
  // The lowest count is used, because a transaction counts as final only when every node reports it.
  const pending = await nodes.queryHealthy((node) => readVia(settings, node))
  const counts = (await Promise.allSettled(pending)).flatMap((count) =>
    count.status === 'fulfilled' ? [count.value] : [],
  )
  if (counts.length === 0) throw unavailable(`No node returned the final nonce of ${settings.treasury}`)
  return counts.reduce(smaller)
}
