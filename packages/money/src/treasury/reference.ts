import type { Network } from '@market/kernel/network'

/** As references are stored: lower case for EVM, exact for Solana. */
export const storedReference = (network: Network, reference: string): string =>
  network === 'solana-mainnet' ? reference : reference.toLowerCase()
