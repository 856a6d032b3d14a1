import { unavailable } from '@market/kernel/api-error'
import { largest } from '../bigints.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import { quantity } from './parse-rpc.ts'
import { callAll } from './rpc.ts'

/** How many transactions of an account are mined. */
export const readMinedNonce = async (nodes: NodePool, chainId: number, account: string): Promise<bigint> => {
  // The highest count is used, because a lagging node would return a used nonce.
  const counts = await Promise.allSettled(
    await nodes.queryHealthy((node) =>
      callAll(node, chainId, [['eth_getTransactionCount', account, 'latest']]),
    ),
  )
  const known = counts.flatMap((count) =>
    count.status === 'fulfilled' ? [count.value.map((one) => quantity(one))] : [],
  )
  if (known.length === 0) throw unavailable(`No node returned the nonce of ${account}`)
  return largest(known.flat())
}
