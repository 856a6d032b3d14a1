import type { Needs } from '@market/core/context'
import { knowsAllSent } from '@market/core/outgoing'
import type { Venue } from '@market/core/ports/venue'
import type { Tx } from '@market/database/transact'
import type { Pool } from './pool.ts'
import type { TimedReading } from './record-reading.ts'
import { ratioAfterLoss } from './shares.ts'
import { saveVaultShares } from './store.ts'

/**
 * The pool when the wallet holds fewer vault shares than the receipts say: they are gone without a payment, and all shares of the
 * pool bear the same part of it. Not while a recall is under way: it is not known whose they are.
 */
export function afterLoss<T extends Pool>(pool: T, held: bigint): T {
  const { venueShares, totalShares, queuedShares, ratio } = pool
  if (held >= venueShares) return pool
  return { ...pool, venueShares: held, ratio: ratioAfterLoss(held, totalShares + queuedShares, ratio) }
}

/** What the wallet lacks is a loss only if the database knows all that the wallet sent: it may have lost a recall. */
export async function requireWholeHistory(
  ctx: Needs<'db'>,
  venue: Venue,
  { held, shares }: Pick<TimedReading, 'held' | 'shares'>,
): Promise<void> {
  if (held >= shares || (await knowsAllSent(ctx, venue, venue.wallet))) return
  throw new Error(
    `The wallet ${venue.wallet} has ${held} of ${shares} vault shares and sent what the database does not know`,
  )
}

/** Saves it for a locked pool. */
export async function bearLoss(tx: Tx, pool: Pool, held: bigint): Promise<Pool> {
  const after = afterLoss(pool, held)
  if (after !== pool) await saveVaultShares(tx, pool.key, after.venueShares, after.ratio)
  return after
}
