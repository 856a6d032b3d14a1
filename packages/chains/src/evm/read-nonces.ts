import { unavailable } from '@market/kernel/api-error'
import { largest } from '../bigints.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import { quantity } from './parse-rpc.ts'
import { callAll } from './rpc.ts'

/** An account's next nonce by mined transactions, and including pending ones. */
export const readNonces = async (
  nodes: NodePool,
  chainId: number,
  account: string,
): Promise<{ readonly next: bigint; readonly pending: bigint }> => {
  // The highest count is used, because a lagging node would return a used nonce.
  const counts = await Promise.allSettled(
    await nodes.queryHealthy((node) =>
      callAll(node, chainId, [
        ['eth_getTransactionCount', account, 'latest'],
        ['eth_getTransactionCount', account, 'pending'],
      ]),
    ),
  )
  const known = counts.flatMap((count) =>
    count.status === 'fulfilled' ? [count.value.map((one) => quantity(one))] : [],
  )
  if (known.length === 0) throw unavailable(`No node returned the nonce of ${account}`)
  const next = largest(known.map(([latest = 0n]) => latest))
  return { next, pending: largest([next, ...known.flat()]) }
}
