import type { Needs } from '@market/core/context'
import type { VenueMarket, Venues } from '@market/core/ports/venue'
import { MINUTE } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'

/**
 * Why a pool stands still. `impaired`: the venue holds less than is owed. `price`: the venue pays less than it says.
 * `wallet`: the configuration has another vault or wallet than the pool.
 */
export type PauseReason = 'impaired' | 'price' | 'wallet'

export interface Pool {
  readonly key: string
  readonly network: VenueMarket['network']
  readonly kind: VenueMarket['kind']
  readonly vault: string
  readonly wallet: string
  /** All shares of depositors. */
  readonly totalShares: bigint
  /** The vault's shares that our own transactions brought. */
  readonly venueShares: bigint
  /** Null before the first one. */
  readonly reading: PoolReading | null
  readonly paused: PauseReason | null
}

export interface PoolReading {
  readonly at: Date
  readonly value: Usdc
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

/** What a pool has in the treasury, and owes for shares that were burned. */
export interface PoolMoney {
  readonly idle: Usdc
  readonly queued: Usdc
}

export interface PoolListener {
  /** Called after the commit, when a pause begins or has another reason than before. `missing` is zero unless it is `impaired`. */
  onPaused(key: string, reason: PauseReason, missing: Usdc): void | Promise<void>
}

/** What the worker uses for Earn. */
export type EarnContext = Needs<'db' | 'clock' | 'ids' | 'chains' | 'vault'> & { readonly venues: Venues }

/** A reading that is older says nothing about the venue now. One that is so far ahead is of a worker whose clock is wrong. */
const FRESH_MS = 2 * MINUTE

export const isFresh = ({ reading }: Pick<Pool, 'reading'>, now: Date): boolean =>
  reading !== null && Math.abs(now.getTime() - reading.at.getTime()) <= FRESH_MS
