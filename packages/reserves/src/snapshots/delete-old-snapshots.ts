import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { NETWORKS } from '@market/kernel/network'
import { deleteLeaves, findWithOldLeaves } from './leaves/store.ts'
import { deletePlainSnapshots } from './store.ts'

/** The leaves of so many newest snapshots per network are kept. The roots of all of them are kept forever. */
const NEWEST = 3
const DAYS_FOR_MS = 90 * DAY
const UNPROVEN_FOR_MS = 7 * DAY
const BATCH = 20_000

/** Deletes the leaves of older proofs, those of a day's snapshot after 90 days, and snapshots without a proof after a week. */
export async function deleteOldSnapshots(ctx: Needs<'db' | 'clock'>): Promise<void> {
  const now = ctx.clock.now()
  const kept = { newest: NEWEST, daysSince: earlier(now, DAYS_FOR_MS) }
  for (const snapshotId of await findWithOldLeaves(ctx.db, kept))
    while (await transact(ctx.db, (tx) => deleteLeaves(tx, snapshotId, BATCH)));
  const before = earlier(now, UNPROVEN_FOR_MS)
  for (const network of NETWORKS)
    await transact(ctx.db, (tx) => deletePlainSnapshots(tx, network, { now, before }))
}
