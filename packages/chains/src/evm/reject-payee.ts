import type { PayoutRequest } from '@market/core/ports/payout-sender'
import { unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import type { NodePool } from '../nodes/node-pool.ts'
import { failureReason, isContractFailure } from './contract-failure.ts'
import { callEach, type RpcError, type RpcResponse, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings, ownKeys, parseAddress } from './settings.ts'

/** A USDC transfer to a new address uses about 60 000. */
const TRANSFER_GAS = 100_000n

/** The contract's error, or undefined when the call would succeed. Throws on any other error of the node. */
const contractFailure = (response: RpcResponse | undefined): RpcError | undefined => {
  if (response !== undefined && 'error' in response && isContractFailure(response.error))
    return response.error
  resultOf(response)
  return undefined
}

/** Why nobody could pay this payee; undefined when only the chain knows. */
export const invalidPayee = (settings: EvmSettings, { to }: PayoutRequest): string | undefined => {
  const payee = parseAddress(to)
  if (payee === undefined) return 'not an EVM address'
  if (payee === zeroAddress) return 'the zero address'
  if (addressKey(payee) === addressKey(settings.usdc)) return 'the address of USDC itself'
  return ownKeys(settings).has(addressKey(payee)) ? 'an address of the marketplace' : undefined
}

/**
 * Why the payee can never be paid. The transfer is simulated. When it fails, a transfer of 0 to the payee distinguishes a
 * blocked payee from a low treasury balance, and a transfer of 0 to the treasury detects a paused token.
 */
export const rejectPayee = async (
  settings: EvmSettings,
  nodes: NodePool,
  payout: PayoutRequest,
): Promise<string | undefined> => {
  const invalid = invalidPayee(settings, payout)
  if (invalid !== undefined) return invalid
  const [payee, treasury] = [payout.to, settings.treasury] as `0x${string}`[]
  assert(payee !== undefined && treasury !== undefined, 'payee and treasury are addresses')
  const attempt = (to: `0x${string}`, amount: bigint) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
    const gas = `0x${TRANSFER_GAS.toString(16)}`
    return ['eth_call', { from: treasury, to: settings.usdc, data, gas }, 'latest'] as const
  }
  const attempts = [attempt(payee, payout.amount), attempt(payee, 0n), attempt(treasury, 0n)]
  const [fullAmount, zeroAmount, toTreasury] = await nodes.query(async (node) =>
    (await callEach(node, settings.chainId, attempts)).map(contractFailure),
  )
  if (fullAmount === undefined || zeroAmount === undefined) return undefined
  if (toTreasury !== undefined)
    throw unavailable(`USDC transfers from the treasury fail: ${failureReason(toTreasury)}`)
  return failureReason(zeroAmount)
}
