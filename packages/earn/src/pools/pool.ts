import type { Needs } from '@market/core/context'
import type { VenueMarket, Venues } from '@market/core/ports/venue'
import { MINUTE } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import { type MintProblem, mintProblem, type Price, type Ratio, valueOfShares } from './shares.ts'

/**
 * Why a pool takes no deposits. `price`: the venue pays less than it says. `wallet`: the configuration has another vault or wallet
 * than the pool. `held`: the receipt of a recall is not understood.
 */
export type PauseReason = 'price' | 'wallet' | 'held'

export interface Pool {
  readonly key: string
  readonly network: VenueMarket['network']
  readonly kind: VenueMarket['kind']
  readonly vault: string
  readonly wallet: string
  /** The shares of positions. */
  readonly totalShares: bigint
  /** Those of withdrawals that the vault was not asked to redeem yet. */
  readonly queuedShares: bigint
  /** The vault's shares of our own receipts, without those of a recall that is under way. */
  readonly venueShares: bigint
  /** Null before the first receipt. */
  readonly ratio: Ratio | null
  /** Null before the first one. */
  readonly reading: PoolReading | null
  readonly paused: PauseReason | null
}

export interface PoolReading {
  readonly at: Date
  readonly price: Price
  readonly tvl: Usdc
  readonly liquid: Usdc
  readonly acceptsDeposits: boolean
}

/** The shares of one depositor, who is named as `nameOf` names a caller. */
export interface Position {
  readonly poolKey: string
  readonly holder: string
  readonly shares: bigint
  readonly principal: Usdc
}

export interface PoolListener {
  /** Called after the commit, when a pause begins or has another reason than before. */
  onPaused(key: string, reason: PauseReason): void | Promise<void>
}

/** What the worker uses for Earn. */
export type EarnContext = Needs<'db' | 'clock' | 'ids' | 'chains' | 'vault'> & { readonly venues: Venues }

/** What it uses to move money: no transfer to a venue and no payout is larger than the cap. */
export type MoneyContext = EarnContext & { readonly caps: { readonly perPayout: Usdc } }

/** Nobody has a share. The next receipt is a first one again. */
export const isEmpty = ({ totalShares, queuedShares }: Pool): boolean => totalShares + queuedShares === 0n

/** What shares of a pool are worth at the newest reading. */
export const worthOf = (shares: bigint, { ratio, reading }: Pick<Pool, 'ratio' | 'reading'>): Usdc =>
  valueOfShares(shares, ratio, reading?.price ?? null)

/** Why a deposit of this amount cannot enter the pool. */
export const depositProblem = (amount: Usdc, pool: Pool): MintProblem | undefined =>
  mintProblem(amount, isEmpty(pool) ? null : pool.ratio, pool.reading?.price ?? null)

/** A reading that is older says nothing about the venue now. One that is so far ahead is of a worker whose clock is wrong. */
const FRESH_MS = 2 * MINUTE

export const isFresh = ({ reading }: Pick<Pool, 'reading'>, now: Date): boolean =>
  reading !== null && Math.abs(now.getTime() - reading.at.getTime()) <= FRESH_MS
