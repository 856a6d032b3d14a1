import { unavailable } from '@market/kernel/api-error'
import { largest } from '../nodes/largest.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import { quantity } from './read-answer.ts'
import { callAll } from './rpc.ts'

/** An account's next nonce as the chain counts, and with what waits to be mined. */
export const readNonces = async (
  nodes: NodePool,
  chainId: number,
  account: string,
): Promise<{ readonly next: bigint; readonly pending: bigint }> => {
  // The highest count wins: a node that lags would name a nonce that is used.
  const counts = await Promise.allSettled(
    await nodes.askGood((node) =>
      callAll(node, chainId, [
        ['eth_getTransactionCount', account, 'latest'],
        ['eth_getTransactionCount', account, 'pending'],
      ]),
    ),
  )
  const known = counts.flatMap((count) =>
    count.status === 'fulfilled' ? [count.value.map((one) => quantity(one))] : [],
  )
  if (known.length === 0) throw unavailable(`No node tells the nonce of ${account}`)
  const next = largest(known.map(([latest = 0n]) => latest))
  return { next, pending: largest([next, ...known.flat()]) }
}
