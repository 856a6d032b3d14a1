import type { PayoutRequest } from '@market/core/ports/payout-sender'
import { unavailable } from '@market/kernel/api-error'
import { usdc as money } from '@market/kernel/money'
import { encodeFunctionData, erc20Abi } from 'viem'
import { largest } from '../bigints.ts'
import type { Node } from '../nodes/node-pool.ts'
import { isContractFailure } from './contract-failure.ts'
import { quantity } from './parse-rpc.ts'
import { type Call, callEach, resultOf } from './rpc.ts'
import { type EvmSettings, parseAddress } from './settings.ts'
import { TRANSFER_GAS, transferCall } from './sign-transfer.ts'

/** Above this the estimate is taken for a fault of the node. Networks that bill data in gas need a fraction of it. */
const MAX_TRANSFER_GAS = 5_000_000n
/** The price of data can rise until the transaction is executed. Gas that is not used is not charged. */
const MARGIN_PERCENT = 150n

/**
 * The gas limit of a payout. Some networks bill the data of a transaction as gas, and reject one with less: its nonce would
 * block all later payouts. A transfer that would revert cannot be estimated; a transfer of 0 to the treasury stands in.
 */
export const estimateGas = async (
  { chainId, usdc, treasury }: EvmSettings,
  node: Node,
  payout: PayoutRequest,
): Promise<bigint> => {
  const estimate = (data: string): Call => ['eth_estimateGas', { from: treasury, to: usdc, data }]
  const responses = await callEach(node, chainId, [
    estimate(transferCall(payout)),
    estimate(transferOfNothing(treasury, payout)),
  ])
  const estimates = responses.flatMap((one) =>
    'error' in one && isContractFailure(one.error) ? [] : [quantity(resultOf(one))],
  )
  const needed = (largest([0n, ...estimates]) * MARGIN_PERCENT) / 100n
  if (needed > MAX_TRANSFER_GAS)
    throw unavailable(`A transfer needs ${needed} gas. The maximum is ${MAX_TRANSFER_GAS}.`)
  // fix: gas-estimate
  return largest([TRANSFER_GAS, needed])
}

/** The same length as the payout, because the length decides what the data costs. */
const transferOfNothing = (treasury: string, payout: PayoutRequest): string => {
  const to = parseAddress(treasury) ?? payout.to
  const call = transferCall({ ...payout, to, amount: money(1n) })
  const args = [to as `0x${string}`, 0n] as const
  const plain = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  return `${plain}${call.slice(plain.length)}`
}
