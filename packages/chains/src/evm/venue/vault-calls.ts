import { assert } from '@market/kernel/assert'
import { encodeFunctionData, erc20Abi, erc4626Abi, type Hex } from 'viem'
import type { Node } from '../../nodes/node-pool.ts'
import type { Call } from '../rpc.ts'
import { parseAddress } from '../settings.ts'

/** The addresses of one market. */
export interface Vault {
  readonly chainId: number
  readonly usdc: string
  readonly vault: string
  readonly wallet: string
  readonly treasury: string
}

/** A vault at one block of one node, so that everything read there belongs together. */
export interface VaultAt extends Vault {
  readonly node: Node
  readonly block: Hex
}

export interface CallRequest {
  readonly from?: string
  readonly to: string
  readonly data: Hex
}

const checked = (address: string): Hex => {
  const parsed = parseAddress(address)
  assert(parsed !== undefined, `${address} is not an EVM address`)
  return parsed
}

/** Functions of a vault that take an amount and return one. */
type AmountFunction = 'previewRedeem' | 'previewDeposit' | 'convertToAssets'

export const askAmount = ({ vault }: Vault, functionName: AmountFunction, amount: bigint): CallRequest => ({
  to: vault,
  data: encodeFunctionData({ abi: erc4626Abi, functionName, args: [amount] }),
})

export const askMax = ({ vault, wallet }: Vault, functionName: 'maxRedeem' | 'maxDeposit'): CallRequest => ({
  to: vault,
  data: encodeFunctionData({ abi: erc4626Abi, functionName, args: [checked(wallet)] }),
})

export const askVault = ({ vault }: Vault, functionName: 'totalAssets' | 'asset'): CallRequest => ({
  to: vault,
  data: encodeFunctionData({ abi: erc4626Abi, functionName }),
})

export const askDecimals = ({ vault }: Vault): CallRequest => ({
  to: vault,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }),
})

export const askBalance = (token: string, owner: string): CallRequest => ({
  to: token,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [checked(owner)] }),
})

export const askAllowance = ({ usdc, wallet, vault }: Vault): CallRequest => ({
  to: usdc,
  data: encodeFunctionData({
    abi: erc20Abi,
    functionName: 'allowance',
    args: [checked(wallet), checked(vault)],
  }),
})

/** Exactly the amount of one deposit, so that the vault can never take more. */
export const approve = ({ usdc, wallet, vault }: Vault, amount: bigint) => ({
  from: wallet,
  to: usdc,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [checked(vault), amount] }),
})

export const deposit = ({ vault, wallet }: Vault, amount: bigint) => ({
  from: wallet,
  to: vault,
  data: encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [amount, checked(wallet)] }),
})

export const redeem = ({ vault, wallet, treasury }: Vault, shares: bigint) => ({
  from: wallet,
  to: vault,
  data: encodeFunctionData({
    abi: erc4626Abi,
    functionName: 'redeem',
    args: [shares, checked(treasury), checked(wallet)],
  }),
})

export const transfer = ({ usdc }: Vault, from: string, to: string, amount: bigint) => ({
  from,
  to: usdc,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [checked(to), amount] }),
})

export const callAt = (request: CallRequest, block: string): Call => ['eth_call', request, block]
