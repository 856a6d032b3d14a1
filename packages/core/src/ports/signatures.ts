import type { Network } from '@market/kernel/network'

export const WALLET_CHAINS = ['solana', 'base'] as const

export type WalletChain = (typeof WALLET_CHAINS)[number]

export interface Wallet {
  readonly chain: WalletChain
  /** As people read it: EIP-55 for EVM, base58 for Solana. */
  readonly address: string
  /** As it is stored and compared: lower case for EVM, exact for Solana. */
  readonly key: string
}

export interface WalletProof {
  readonly wallet: Wallet
  readonly signature: string
  /** Unix milliseconds inside the signed text. */
  readonly signedAtMs: number
  /** Where a smart wallet is asked whether it signed; Base unless said. */
  readonly network?: Network
}

/** How long a signed message counts, and how far ahead a signer's clock may run. */
export const SIGNATURE_MAX_AGE_MS = 300_000
export const SIGNATURE_MAX_SKEW_MS = 60_000

export interface Signatures {
  /** Undefined when the text is no wallet that can sign, or contradicts the chain named beside it. */
  parse(address: string, chain?: WalletChain): Wallet | undefined
  /** The exact text a wallet signs for a purpose. */
  message(wallet: Wallet, signedAtMs: number, purpose: string): string
  /** Rejects (`invalid`, `unauthenticated`, or `unavailable` when a chain must be asked and cannot be). */
  verify(proof: WalletProof, purpose: string, now: Date): Promise<void>
}
