import type { Usdc } from '@market/kernel/money'

/** One Solana cluster as the market sees it. */
export interface SolanaSettings {
  /** Asked in this order; a node in trouble is passed over for a while. */
  readonly rpcUrls: readonly string[]
  /** By which a node on another cluster is recognised. */
  readonly genesisHash: string
  /** The mint of USDC. */
  readonly usdc: string
  /** The wallet; the money lies in its associated token account. */
  readonly treasury: string
  /** How settled a payment of this amount must be to count. Money leaves only for what is final in any case. */
  readonly commitment: (amount: Usdc) => 'confirmed' | 'finalized'
  /** Wallets of ours: what they sign or lose is never somebody's payment. */
  readonly ownAddresses: readonly string[]
  /** Accounts of ours that pay the fee of other people's payments; none of the wallets above. */
  readonly gasAccounts?: readonly string[]
  /** Per node and question. */
  readonly timeoutMs?: number
}

export interface SolanaPayoutSenderSettings extends SolanaSettings {
  /** What a first attempt offers for a place in a block; later ones offer more. */
  readonly microLamportsPerUnit?: bigint
}

/** USDC has 6 decimals on every network, and all money in the application is counted in them. */
export const USDC_DECIMALS = 6
