import type { Venue } from '@market/core/ports/venue'
import { transact } from '@market/database/transact'
import { forEachPool } from './for-each-pool.ts'
import { isConfiguredAs } from './open-pools.ts'
import type { EarnContext, Pool, PoolListener } from './pool.ts'
import { recordReading, type TimedReading } from './record-reading.ts'
import { findPools } from './store.ts'

/**
 * Reads what every pool's venue would pay. A pool that cannot be read keeps its last reading, which gets stale.
 * An error of one pool does not stop the others; all are thrown at the end. Any number of workers can call this.
 */
export const readPools = async (ctx: EarnContext, listener: PoolListener): Promise<void> =>
  forEachPool(await findPools(ctx.db), 'read', (pool) => readPool(ctx, pool, listener))

async function readPool(ctx: EarnContext, pool: Pool, listener: PoolListener): Promise<void> {
  const venue = ctx.venues[pool.key]
  if (venue === undefined || pool.paused === 'wallet' || !isConfiguredAs(pool, venue)) return
  const reading = await readVenue(ctx, venue, pool)
  const paused = await transact(ctx.db, (tx) => recordReading(ctx, tx, venue, reading))
  if (paused !== undefined) await listener.onPaused(pool.key, paused)
}

/** What the venue shows for a pool's shares. The time is from before, because the reading is at least as new as that. */
export async function readVenue(
  { clock }: Pick<EarnContext, 'clock'>,
  venue: Venue,
  { venueShares }: Pick<Pool, 'venueShares'>,
): Promise<TimedReading> {
  const at = clock.now()
  return { ...(await venue.read(venueShares)), at, shares: venueShares }
}
