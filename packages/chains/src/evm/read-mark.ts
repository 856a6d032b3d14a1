import type { PayoutMark } from '@market/core/ports/chain'
import type { Node } from '../nodes/node-pool.ts'
import { readTransaction } from './parse-rpc.ts'
import { callAll } from './rpc.ts'
import { addressKey, type EvmSettings } from './settings.ts'
import { payoutIdIn } from './sign-transfer.ts'

/** What makes the transaction of a log a payout of the treasury, by one node. */
export const readMark = async (
  { chainId, usdc, treasury }: EvmSettings,
  node: Node,
  reference: string,
): Promise<PayoutMark> => {
  const [response] = await callAll(node, chainId, [['eth_getTransactionByHash', reference]])
  const transaction = readTransaction(response)
  if (transaction === undefined) throw new Error('the node does not have the transaction of a log')
  const { from, to, nonce, input } = transaction
  if (from !== addressKey(treasury)) return { payoutId: null, nonce: null }
  // Accounts with an allowance can also move the treasury's USDC, and they can append any data to their call.
  return { payoutId: to === addressKey(usdc) ? payoutIdIn(input) : null, nonce }
}
