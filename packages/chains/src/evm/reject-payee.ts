import type { PayoutRequest } from '@market/core/ports/payout-sender'
import { unavailable } from '@market/kernel/api-error'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import type { NodePool } from '../nodes/node-pool.ts'
import { failureReason, isContractFailure } from './contract-failure.ts'
import { type Answer, callEach, type RpcError, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings, ownKeys, parseAddress } from './settings.ts'
import { TRANSFER_GAS } from './sign-transfer.ts'

/** The contract's error, or nothing when the call would succeed. Any other error is the node's trouble. */
const failureIn = (answer: Answer | undefined): RpcError | undefined => {
  if (answer !== undefined && 'error' in answer && isContractFailure(answer.error)) return answer.error
  resultOf(answer)
  return undefined
}

/**
 * Why the payee can never be paid. The transfer is tried without being sent; when it fails, the same transfer of nothing
 * tells a blocked payee from a treasury that is short, and one to ourselves tells it from an asset that is at a stop.
 */
export const rejectPayee = async (
  settings: EvmSettings,
  nodes: NodePool,
  order: PayoutRequest,
): Promise<string | undefined> => {
  const payee = parseAddress(order.to)
  const treasury = parseAddress(settings.treasury)
  if (payee === undefined || treasury === undefined) return 'not an EVM address'
  if (payee === zeroAddress) return 'the zero address'
  if (addressKey(payee) === addressKey(settings.usdc)) return 'the address of USDC itself'
  if (ownKeys(settings).has(addressKey(payee))) return 'an address of the marketplace'

  const attempt = (to: `0x${string}`, amount: bigint) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
    const gas = `0x${TRANSFER_GAS.toString(16)}`
    return ['eth_call', { from: treasury, to: settings.usdc, data, gas }, 'latest'] as const
  }
  const attempts = [attempt(payee, order.amount), attempt(payee, 0n), attempt(treasury, 0n)]
  const [whole, nothing, ourselves] = await nodes.ask(async (node) =>
    (await callEach(node, settings.chainId, attempts)).map(failureIn),
  )
  if (whole === undefined || nothing === undefined) return undefined
  if (ourselves !== undefined)
    throw unavailable(`USDC leaves the treasury for nobody: ${failureReason(ourselves)}`)
  return failureReason(nothing)
}
