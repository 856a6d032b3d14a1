import type { NonceCounts } from '@market/core/ports/transactions'
import { unavailable } from '@market/kernel/api-error'
import { smaller } from '../bigints.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import { supported } from '../nodes/providers.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { quantity } from './parse-rpc.ts'
import { callAll, callEach } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

/**
 * How many transactions of an account are mined: the most that as many providers as required show. One that reports too many would
 * otherwise get a transaction signed that can never be mined. Of those in final blocks the fewest that any provider shows.
 */
export const readCounts = async (
  { chainId, finalityTag, minProviders }: EvmSettings,
  nodes: NodePool,
  account: string,
): Promise<NonceCounts> => {
  const { responses, failures } = await nodes.queryProviders(async (node) => {
    const [block] = await callEach(node, chainId, [blockAt(finalityTag)])
    const height = readFinalBlock(block)?.height ?? 0n
    // Of the same block, whatever becomes final meanwhile.
    const [final, mined] = await callAll(node, chainId, [
      ['eth_getTransactionCount', account, `0x${height.toString(16)}`],
      ['eth_getTransactionCount', account, 'latest'],
    ])
    return { final: quantity(final), mined: quantity(mined), height }
  }, minProviders)
  const shown = responses.map(({ response }) => response)
  const mined = supported(
    shown.map((one) => one.mined),
    minProviders,
  )
  if (mined === undefined)
    throw unavailable(`Too few providers returned the nonce of ${account}`, new AggregateError(failures))
  return {
    mined,
    final: shown.map(({ final }) => final).reduce(smaller),
    height: shown.map(({ height }) => height).reduce(smaller),
  }
}
