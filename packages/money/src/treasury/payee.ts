import type { Needs } from '@market/core/context'
import type { WalletChain } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'

/** Addresses are the same on all EVM networks. */
export const CHAIN_OF: Readonly<Record<Network, WalletChain>> = {
  'solana-mainnet': 'solana',
  'base-mainnet': 'base',
  'alt-mainnet': 'base',
}

/**
 * Returns a payee address in the stored form. USDC sent to a wrong address is lost, so an EVM address must have its
 * checksum, a Solana address must be a wallet that can sign, and neither may belong to the marketplace.
 */
export function requirePayee(
  { signatures, chains }: Needs<'signatures' | 'chains'>,
  network: Network,
  text: string,
): string {
  const wallet = signatures.parseWallet(text, CHAIN_OF[network])
  if (wallet === undefined) throw wrongPayee(`must be a wallet on ${network}`)
  if (wallet.address !== text)
    throw wrongPayee('must have its EIP-55 checksum, as wallets show it: check every letter')
  const own = [chains[network]?.treasury, chains[network]?.usdc]
  if (own.some((address) => address !== undefined && isSame(network, address, wallet.key)))
    throw wrongPayee('must not be the treasury or the USDC contract')
  return wallet.key
}

const isSame = (network: Network, address: string, key: string): boolean =>
  network === 'solana-mainnet' ? address === key : address.toLowerCase() === key

const wrongPayee = (message: string): ApiError =>
  new ApiError('invalid', `payee ${message}`, { details: [{ path: 'payload.payee', message }] })
