import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { NETWORKS } from '@market/kernel/network'
import { deleteLeaves, deletePlainSnapshots, findWithOldLeaves } from './store.ts'

/** So many snapshots per network can be proven. The roots of all of them are kept forever. */
const PROVABLE = 3
const UNPROVEN_FOR_MS = 7 * DAY
const BATCH = 20_000

/** Deletes the leaves of older proofs, and snapshots without a proof after a week. */
export async function deleteOldSnapshots(ctx: Needs<'db' | 'clock'>): Promise<void> {
  for (const snapshotId of await findWithOldLeaves(ctx.db, PROVABLE))
    while (await transact(ctx.db, (tx) => deleteLeaves(tx, snapshotId, BATCH)));
  const now = ctx.clock.now()
  const before = earlier(now, UNPROVEN_FOR_MS)
  for (const network of NETWORKS)
    await transact(ctx.db, (tx) => deletePlainSnapshots(tx, network, { now, before }))
}
