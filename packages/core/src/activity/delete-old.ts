import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { deleteActivityBefore } from './store.ts'

const RETENTION_MS = 90 * DAY
/** Deletes what happened more than 90 days ago. */
export const deleteOldActivity = ({ db, clock }: Needs<'db' | 'clock'>): Promise<number> => {
  const before = earlier(clock.now(), RETENTION_MS)
  return inBatches((limit) => transact(db, (tx) => deleteActivityBefore(tx, before, limit)))
}
