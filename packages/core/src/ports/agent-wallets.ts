import type { SignedTransfer } from './payout-sender.ts'
import type { ExpiringRail } from './transactions.ts'

/** The assets that have a name here and a daily cap. */
export type WalletCoin = 'SOL' | 'USDC'

/** Another token, of the Token program or of Token-2022. */
export interface WalletToken {
  readonly mint: string
  readonly decimals: number
}

/** What a server wallet can send. */
export type WalletAsset = WalletCoin | WalletToken

export const isToken = (asset: WalletAsset): asset is WalletToken => typeof asset !== 'string'

/** The name, symbol and document of a token, as its mint stores them. */
export interface TokenMetadata {
  readonly name: string
  readonly symbol: string
  /** The URL of the metadata document. */
  readonly uri: string
}

/**
 * What a server wallet can sign. Nothing else is ever signed. `launch`: a Token-2022 mint with metadata and its whole
 * supply, sent to the wallet. `identity`: one non-transferable token. The address of either mint is derived from the
 * wallet's seed, so that repeating the operation cannot create a second one.
 */
export type WalletIntent =
  | { readonly kind: 'launch'; readonly token: TokenMetadata }
  | { readonly kind: 'identity'; readonly token: TokenMetadata }
  | {
      readonly kind: 'send'
      readonly asset: WalletAsset
      readonly to: string
      /** Lamports, micro-USDC or the smallest units of the token. */
      readonly amount: bigint
    }

/** Balances at the newest confirmed block. */
export interface WalletBalances {
  readonly lamports: bigint
  readonly usdcMicros: bigint
}

/** A token that a wallet holds and can send. */
export interface Holding {
  readonly token: WalletToken
  /** In its smallest units. */
  readonly amount: bigint
}

/** What operations cost now at their first attempt, in lamports: rent and fees. */
export interface WalletCosts {
  readonly launch: bigint
  readonly identity: bigint
  /** The least that an account must hold to exist. */
  readonly rentExempt: bigint
}

/** Why a mint is not proven to be created by the given wallet in the given transaction. */
export type MintProof = 'proven' | 'not_found' | 'not_final' | 'failed' | 'other_creator' | 'other_mint'

/** What a finalized transaction did with the lamports of a wallet. */
export type Income =
  | {
      readonly kind: 'final'
      /** By how much they grew. Negative where they decreased. */
      readonly lamports: bigint
      /** What transfers of the given payer brought. */
      readonly paid: bigint
      /** Whether the transaction names the given mint: as an account, or as the whole text of a memo. */
      readonly namesMint: boolean
    }
  | { readonly kind: 'not_found' | 'not_final' | 'failed' }

/** What the nodes show of a signed transaction. */
export interface ShownTransaction {
  readonly reference: string
  readonly status: 'final' | 'failed' | 'not_final' | 'not_found'
}

/** Anybody can send tokens to a wallet, so there can be any number. */
export const MAX_HOLDINGS = 100

/** Reads what server wallets and tokens need of Solana. Its methods throw `unavailable` when no node answers. */
export interface WalletReader {
  balances(address: string): Promise<WalletBalances>
  /** The token of a mint, or why a wallet cannot send it. */
  tokenOf(mint: string): Promise<WalletToken | { readonly rejected: string }>
  /** How much of a token a wallet has, in the token's smallest units. */
  tokenBalance(address: string, token: WalletToken): Promise<bigint>
  /** Every token that a wallet holds and can send, without USDC: at most `MAX_HOLDINGS`. */
  holdings(address: string): Promise<readonly Holding[]>
  /** With metadata: the exact cost of this token. Without: the cost of the longest metadata, which is the maximum. */
  costs(token?: TokenMetadata): Promise<WalletCosts>
  /**
   * What a transfer costs now in lamports, with the rent of a token account that it must create. Later attempts offer a
   * higher fee. The wallet must have at least this cost (with SOL also the amount), and what remains of its lamports must be
   * 0 or at least `rentExempt`. To send all SOL, send the balance less this cost.
   */
  sendCost(asset: WalletAsset, to: string, attempt?: number): Promise<bigint>
  /**
   * Why the address can never receive the asset, or undefined. With the amount also: why an account that has less than
   * `rentExempt` lamports cannot receive so few.
   */
  rejectionReason(asset: WalletAsset, to: string, amount?: bigint): Promise<string | undefined>
  /** Whether the transaction created the mint, signed by the creator. */
  proveMint(proof: {
    readonly reference: string
    readonly mint: string
    readonly creator: string
  }): Promise<MintProof>
  /** What the wallet received in the transaction. */
  readIncome(query: {
    readonly reference: string
    readonly wallet: string
    readonly payer?: string | undefined
    readonly mint?: string | undefined
  }): Promise<Income>
  /** What the nodes show of signed transactions now, and up to which height the chain is final. */
  showTransactions(
    references: readonly string[],
  ): Promise<{ readonly finalHeight: bigint; readonly transactions: readonly ShownTransaction[] }>
}

/** Signs and sends the operations of server wallets. Only the worker has one. */
export interface WalletSigner extends WalletReader, ExpiringRail {
  /** `attempt`: 1 for the first signature of the operation. The caller erases the seed. */
  sign(
    seed: Uint8Array,
    operation: { readonly id: string; readonly attempt: number; readonly intent: WalletIntent },
  ): Promise<SignedTransfer>
  /** The address of the mint that an operation of the wallet creates. Null for `send`. */
  mintOf(seed: Uint8Array, kind: WalletIntent['kind']): string | null
}
