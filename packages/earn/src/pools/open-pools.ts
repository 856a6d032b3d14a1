import type { Venue } from '@market/core/ports/venue'
import { type Tx, transact } from '@market/database/transact'
import { forEachPool } from './for-each-pool.ts'
import type { EarnContext, Pool, PoolListener } from './pool.ts'
import { findPool, insertPool, savePause } from './store.ts'

/** Whether the pool's money is where this process was configured to look for it. */
export const isConfiguredAs = (pool: Pool, { market, wallet }: Venue): boolean =>
  pool.network === market.network && pool.vault === market.vault && pool.wallet === wallet

/**
 * Adds the pools of the venues that this worker has. A pool keeps its vault and its wallet: with others in the configuration
 * its money would be elsewhere, and it is paused until the configuration is as it was. Another vault is another market. An error of one pool does not stop the others; all are thrown at the end.
 */
export const openPools = (ctx: EarnContext, listener: PoolListener): Promise<void> =>
  forEachPool(
    Object.values(ctx.venues)
      .flatMap((venue) => venue ?? [])
      .map((venue) => ({ key: venue.market.key, venue })),
    'opened',
    ({ venue }) => openPool(ctx, venue, listener),
  )

async function openPool(ctx: EarnContext, venue: Venue, listener: PoolListener): Promise<void> {
  const { key } = venue.market
  const known = await findPool(ctx.db, key)
  if (known !== undefined && known.paused !== 'wallet' && isConfiguredAs(known, venue)) return
  if (await transact(ctx.db, (tx) => openLocked(ctx, tx, venue))) await listener.onPaused(key, 'wallet')
}

/** Returns whether it paused the pool. */
async function openLocked(ctx: EarnContext, tx: Tx, venue: Venue): Promise<boolean> {
  const { market, wallet } = venue
  const pool = await insertPool(tx, market, wallet, ctx.clock.now())
  if (isConfiguredAs(pool, venue)) {
    // The next reading decides whether there is another reason.
    if (pool.paused === 'wallet') await savePause(tx, pool.key, null)
    return false
  }
  if (pool.paused === 'wallet' || pool.paused === 'held') return false
  await savePause(tx, pool.key, 'wallet')
  return true
}
