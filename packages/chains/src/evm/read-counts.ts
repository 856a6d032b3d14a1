import type { NonceCounts } from '@market/core/ports/transactions'
import { unavailable } from '@market/kernel/api-error'
import { smaller } from '../bigints.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import { supported } from '../nodes/providers.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { quantity } from './parse-rpc.ts'
import { callEach, resultOf } from './rpc.ts'
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
    const [block, finalCount, minedCount] = await callEach(node, chainId, [
      blockAt(finalityTag),
      ['eth_getTransactionCount', account, finalityTag],
      ['eth_getTransactionCount', account, 'latest'],
    ])
    const height = readFinalBlock(block)?.height
    const final = height === undefined ? 0n : quantity(resultOf(finalCount))
    return { final, mined: quantity(resultOf(minedCount)), height: height ?? 0n }
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
