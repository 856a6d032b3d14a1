import type { Usdc } from '@market/kernel/money'
import type { ProviderSettings } from '../nodes/providers.ts'

/** Settings of one Solana cluster. */
export interface SolanaSettings extends ProviderSettings {
  /** In order of preference. A failing node is avoided for a while. */
  readonly rpcUrls: readonly string[]
  /** Identifies the cluster. */
  readonly genesisHash: string
  /** The mint of USDC. */
  readonly usdc: string
  /** The wallet address. The USDC is in its associated token account. */
  readonly treasury: string
  /** Watched for the reserves; nothing here can sign for it. */
  readonly cold?: string | undefined
  /** Less is not sent. */
  readonly minPayout: Usdc
  /** Commitment required to accept a payment of this amount. Payouts always require finality. */
  readonly commitment: (amount: Usdc) => 'confirmed' | 'finalized'
  /** The application's own wallets. Their transfers are never a buyer's payment. */
  readonly ownAddresses: readonly string[]
  /** The application's accounts that pay the fees of buyers' payments. Must not contain an own wallet. */
  readonly gasAccounts?: readonly string[]
  /** The marketplace's time of a block. Default: the block's own time, which only development moves. */
  readonly blockTime?: (at: Date) => Date
  /** How many transactions of the treasury are listed in one request. Default: as many as nodes allow. */
  readonly historyPage?: number
  /** Timeout per node and request. */
  readonly timeoutMs?: number
}

export interface SolanaPayoutSenderSettings extends SolanaSettings {
  /** Priority fee of the first attempt. Later attempts offer more. */
  readonly microLamportsPerUnit?: bigint
}

/** USDC has 6 decimals on every network, and all amounts in the application use them. */
export const USDC_DECIMALS = 6
