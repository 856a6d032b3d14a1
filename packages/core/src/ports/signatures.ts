import type { Network } from '@market/kernel/network'

export const WALLET_CHAINS = ['solana', 'base'] as const

export type WalletChain = (typeof WALLET_CHAINS)[number]

/**
 * How a wallet was proven: by its private key, which is the same on every EVM network, or only on one network, by its
 * contract or by a transfer. On another network a contract's address can belong to someone else.
 */
export type WalletEvidence = 'key' | Network

export interface Wallet {
  readonly chain: WalletChain
  /** Display form: EIP-55 checksum for EVM, base58 for Solana. */
  readonly address: string
  /** Stored and compared form: lower case for EVM, unchanged for Solana. */
  readonly key: string
  /** Set once the wallet is proven. */
  readonly provenBy?: WalletEvidence
}

/**
 * A wallet of the caller. Without `provenBy` the identity provider lists it for the account: the provider verified it and
 * does not say on which network.
 */
export type OwnWallet = Pick<Wallet, 'key' | 'provenBy'>

/** Whether a transfer of this address on the network was made by the caller. Only EVM networks share addresses. */
export const isProvenOn = ({ provenBy }: OwnWallet, network: Network): boolean =>
  network === 'solana-mainnet' || provenBy === undefined || provenBy === 'key' || provenBy === network

/**
 * Whether the caller holds an address that was stored with this evidence. Null was stored before evidence was recorded:
 * then contracts were asked on Base only, which is also assumed of a linked wallet.
 */
export function isSameHolder({ provenBy }: OwnWallet, stored: WalletEvidence | null): boolean {
  if (provenBy === undefined) return stored !== 'alt-mainnet'
  return provenBy === 'key' || provenBy === (stored ?? 'base-mainnet')
}

export interface WalletProof {
  readonly wallet: Wallet
  readonly signature: string
  /** Unix milliseconds in the signed text. */
  readonly signedAtMs: number
  /** The network of a smart wallet, whose contract verifies the signature. Default: Base. */
  readonly network?: Network
  /** Called before a node is queried, which only smart wallets need. What it throws ends the verification. */
  readonly beforeQuery?: () => Promise<void>
}

/** How long a signed message is valid, and how far the signer's clock may be ahead. */
export const SIGNATURE_MAX_AGE_MS = 300_000
export const SIGNATURE_MAX_SKEW_MS = 60_000

export interface Signatures {
  /** Undefined when the text is not a wallet that can sign, or not one on the given chain. */
  parseWallet(address: string, chain?: WalletChain): Wallet | undefined
  /** The text that a wallet signs for a purpose. */
  messageToSign(wallet: Wallet, signedAtMs: number, purpose: string): string
  /** Throws `invalid` or `unauthenticated`, or `unavailable` when a required chain query fails. */
  verify(proof: WalletProof, purpose: string, now: Date): Promise<WalletEvidence>
}
