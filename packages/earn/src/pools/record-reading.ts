import type { Needs } from '@market/core/context'
import type { Venue, VenueReading } from '@market/core/ports/venue'
import type { Tx } from '@market/database/transact'
import { DAY, earlier, MINUTE, SECOND } from '@market/kernel/clock'
import { isConfiguredAs } from './open-pools.ts'
import { isFresh, type PauseReason, type Pool } from './pool.ts'
import { revalue, type Valuation } from './revalue.ts'
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

export interface RecordedReading extends Valuation {
  /** As it was before. */
  readonly pool: Pool
  readonly paused: PauseReason | null
}

/**
 * Locks the pool of a venue, posts the gain or loss of a reading, and saves it. Undefined, with nothing changed, when the
 * reading does not say what the pool is worth now: its shares have changed, a later reading was recorded, or the pool has
 * another vault or wallet.
 */
export async function recordReading(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  venue: Venue,
  reading: TimedReading,
): Promise<RecordedReading | undefined> {
  const pool = await lockPool(tx, venue.market.key)
  if (pool.paused === 'wallet' || !isConfiguredAs(pool, venue)) return undefined
  if (!isCurrent(pool, reading, ctx.clock.now())) return undefined
  const valuation = await revalue(ctx, tx, pool, reading.value)
  const paused = pauseFor(valuation, reading)
  await saveReading(tx, pool.key, { ...reading, paused }, reading.at)
  if (reading.isHonest)
    await addPrice(tx, pool.key, reading, {
      unlessSince: earlier(reading.at, PRICE_EVERY_MS),
      deleteBefore: earlier(reading.at, PRICES_KEPT_MS),
    })
  return { ...valuation, pool, paused }
}

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

function pauseFor({ equity, missing }: Valuation, { isHonest }: VenueReading): PauseReason | null {
  if (missing > 0n || (equity.micros === 0n && equity.shares > 0n)) return 'impaired'
  return isHonest ? null : 'price'
}
