import type { Network } from '@market/kernel/network'

/** The form in which references are stored and compared: lower case for EVM hashes, unchanged for Solana signatures. */
export const normalizeReference = (network: Network, reference: string): string =>
  network === 'solana-mainnet' ? reference : reference.toLowerCase()

/** For requests without a network: hex is a hash on Base, anything else a Solana signature. */
export const inferNetwork = (reference: string): Network =>
  /^0x/i.test(reference) ? 'base-mainnet' : 'solana-mainnet'
