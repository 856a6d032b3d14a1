import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { NETWORKS } from '@market/kernel/network'
import { deleteLeaves, deletePlainSnapshots, findWithOldLeaves } from './store.ts'

/** Of each network so many snapshots can be proven; the roots of all of them stay for ever. */
const PROVABLE = 3
const PLAIN_LOOKS_FOR_MS = 7 * DAY
const AT_ONCE = 20_000

/** Forgets what nobody needs any more: the leaves of older proofs, and snapshots without a proof after a week. */
export async function deleteOldSnapshots(ctx: Needs<'db' | 'clock'>): Promise<void> {
  for (const lookId of await findWithOldLeaves(ctx.db, PROVABLE))
    while (await transact(ctx.db, (tx) => deleteLeaves(tx, lookId, AT_ONCE)));
  const now = ctx.clock.now()
  const before = earlier(now, PLAIN_LOOKS_FOR_MS)
  for (const network of NETWORKS)
    await transact(ctx.db, (tx) => deletePlainSnapshots(tx, network, { now, before }))
}
