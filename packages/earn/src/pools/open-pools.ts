import type { Venue } from '@market/core/ports/venue'
import { type Tx, transact } from '@market/database/transact'
import type { EarnContext, Pool } from './pool.ts'
import { findPool, insertPool, savePause, saveVenue } from './store.ts'

/** Whether the pool's money is where this process was configured to look for it. */
export const isConfiguredAs = (pool: Pool, { market, wallet }: Venue): boolean =>
  pool.network === market.network && pool.vault === market.vault && pool.wallet === wallet

/**
 * Adds the pools of the venues that this worker has. A venue with another vault or wallet than before is saved while the pool
 * has no shares of either kind. Otherwise its money is elsewhere, and the pool is paused until the configuration is as it
 * was. Returns the keys of pools that this call paused. An error of one pool does not stop the others.
 */
export async function openPools(ctx: EarnContext): Promise<string[]> {
  const venues = Object.values(ctx.venues).filter((venue) => venue !== undefined)
  const results = await Promise.allSettled(venues.map((venue) => openPool(ctx, venue)))
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} pools could not be opened`)
  return venues.filter((_, n) => isPausing(results[n])).map(({ market }) => market.key)
}

const isPausing = (result: PromiseSettledResult<boolean> | undefined): boolean =>
  result?.status === 'fulfilled' && result.value

/** Returns whether it paused the pool. */
async function openPool(ctx: EarnContext, venue: Venue): Promise<boolean> {
  const known = await findPool(ctx.db, venue.market.key)
  if (known !== undefined && known.paused !== 'wallet' && isConfiguredAs(known, venue)) return false
  return transact(ctx.db, (tx) => openLocked(ctx, tx, venue))
}

async function openLocked(ctx: EarnContext, tx: Tx, venue: Venue): Promise<boolean> {
  const { market, wallet } = venue
  const pool = await insertPool(tx, market, wallet, ctx.clock.now())
  if (isConfiguredAs(pool, venue)) {
    // The next reading decides whether there is another reason.
    if (pool.paused === 'wallet') await savePause(tx, pool.key, null)
    return false
  }
  if (pool.totalShares === 0n && pool.venueShares === 0n) {
    await saveVenue(tx, market, wallet)
    return false
  }
  if (pool.paused === 'wallet') return false
  await savePause(tx, pool.key, 'wallet')
  return true
}
