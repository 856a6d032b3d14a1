import type { Needs } from '@market/core/context'
import type { Venue, VenueReading } from '@market/core/ports/venue'
import type { Tx } from '@market/database/transact'
import { DAY, earlier, MINUTE, SECOND } from '@market/kernel/clock'
import { isConfiguredAs } from './open-pools.ts'
import { isFresh, type PauseReason, type Pool, type PoolReading } from './pool.ts'
import { addPrice, lockPool, saveReading } from './store.ts'

const PRICE_EVERY_MS = 10 * MINUTE
const PRICES_KEPT_MS = 40 * DAY

/** A reading of a venue, with what it was asked for. */
export interface TimedReading extends VenueReading {
  /** When the reading began: it says nothing about the time before. */
  readonly at: Date
  /** The vault's shares that were valued. */
  readonly shares: bigint
}

/**
 * Locks the pool of a venue and saves a reading. Returns the reason of a pause that begins. Nothing is changed when the reading does
 * not say what the pool is worth now: its shares have changed, a later reading was recorded, or it has another vault or wallet.
 */
export async function recordReading(
  ctx: Needs<'clock'>,
  tx: Tx,
  venue: Venue,
  reading: TimedReading,
): Promise<PauseReason | undefined> {
  const pool = await lockPool(tx, venue.market.key)
  if (pool.paused === 'wallet' || !isConfiguredAs(pool, venue)) return undefined
  if (!isCurrent(pool, reading, ctx.clock.now())) return undefined
  // Only operators end it.
  const paused = pool.paused === 'held' ? 'held' : reading.isHonest ? null : 'price'
  await saveReading(tx, pool.key, pricedReading(reading), paused)
  if (reading.isHonest)
    await addPrice(tx, pool.key, reading, {
      unlessSince: earlier(reading.at, PRICE_EVERY_MS),
      deleteBefore: earlier(reading.at, PRICES_KEPT_MS),
    })
  return paused === pool.paused ? undefined : (paused ?? undefined)
}

export const pricedReading = ({
  at,
  value,
  shares,
  tvl,
  liquid,
  acceptsDeposits,
}: TimedReading): PoolReading => ({
  ...{ at, tvl, liquid, acceptsDeposits },
  price: { value, vaultShares: shares },
})

/** More than a transaction waits for a lock. What was read before says nothing about the venue now. */
const CURRENT_MS = 30 * SECOND

/** Whether what was read from the venue still says what a locked pool is worth. */
export const isCurrent = (
  pool: Pool,
  { shares, at }: Pick<TimedReading, 'shares' | 'at'>,
  now: Date,
): boolean =>
  pool.venueShares === shares && now.getTime() - at.getTime() <= CURRENT_MS && !isOutdated(pool, at, now)

/** A time far ahead is of a worker whose clock is wrong. It must not stop the readings of the others. */
const isOutdated = ({ reading }: Pool, at: Date, now: Date): boolean =>
  reading !== null && reading.at > at && (reading.at <= now || isFresh({ reading }, now))
