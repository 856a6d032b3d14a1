import type { Needs } from '@market/core/context'
import type { WalletCoin, WalletReader, WalletSigner } from '@market/core/ports/agent-wallets'
import type { SecretExporter, SeedOpener } from '@market/core/ports/vault'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { WalletTransaction } from './operation.ts'

/** What requests about server wallets use. The reader is absent while no Solana node is configured or reachable. */
export interface WalletServices {
  readonly wallets?: WalletReader | undefined
  /** Whether the marketplace is configured with nodes of Solana, reachable or not. */
  readonly hasSolana: boolean
  /** What a wallet must hold at least before a launch or an identity mint. */
  readonly walletMinimumLamports: bigint
}

/** Throws 503 without a node. */
export function requireReader({ wallets }: Pick<WalletServices, 'wallets'>): WalletReader {
  if (wallets !== undefined) return wallets
  throw new ApiError(
    'unavailable',
    'Agent wallets are not available now. Nothing was changed. Try again later.',
    {
      code: 'wallets_unavailable',
      retryAfterSeconds: 60,
    },
  )
}

/** What the worker uses to carry out operations. */
export type SignerContext = Needs<'db' | 'clock' | 'ids' | 'vault' | 'signatures' | 'baseUrl'> & {
  /** Absent while no Solana node is reachable. */
  readonly walletSigner?: WalletSigner | undefined
  readonly seeds: SeedOpener
  readonly exporter: SecretExporter
  /** The most that one wallet may send of SOL and USDC in 24 hours, in units. Other tokens have no price that a cap could use. */
  readonly walletCaps: Readonly<Record<WalletCoin, bigint>>
  readonly operationListener: WalletTransactionListener
}

/** Implemented by the module that shows tokens, registered by the app. Runs in the transaction that ends the operation. */
export interface WalletTransactionListener {
  onDone(ctx: Needs<'clock' | 'ids'>, tx: Tx, operation: WalletTransaction): Promise<void>
}
