import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { DAY, earlier } from '@market/kernel/clock'
import { deleteVoid } from './store.ts'

/** A transfer older than an hour buys nothing, so a week is long enough. */
const RETENTION_MS = 7 * DAY
/** Deletes payments that bought nothing. */
export function deleteVoidPurchases({ db, clock }: Needs<'db' | 'clock'>): Promise<number> {
  const before = earlier(clock.now(), RETENTION_MS)
  return inBatches((limit) => deleteVoid(db, before, limit))
}
