import { unavailable } from '@market/kernel/api-error'
import type { NodePool } from '../../nodes/node-pool.ts'
import { supported } from '../../nodes/providers.ts'
import { quantity } from '../parse-rpc.ts'
import { callAll } from '../rpc.ts'
import type { EvmSettings } from '../settings.ts'

/**
 * An account's next nonce by mined transactions: the highest that as many providers as required show. One that reports too
 * many would otherwise get a transaction signed that can never be mined.
 */
export const agreedNonce = async (
  { chainId, minProviders }: EvmSettings,
  nodes: NodePool,
  account: string,
): Promise<bigint> => {
  const { responses, failures } = await nodes.queryProviders(async (node) => {
    const [count] = await callAll(node, chainId, [['eth_getTransactionCount', account, 'latest']])
    return quantity(count)
  }, minProviders)
  const nonce = supported(
    responses.map(({ response }) => response),
    minProviders,
  )
  if (nonce !== undefined) return nonce
  throw unavailable(`Too few providers returned the nonce of ${account}`, new AggregateError(failures))
}
