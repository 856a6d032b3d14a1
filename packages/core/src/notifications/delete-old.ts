import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { deleteNotificationsBefore } from './store.ts'

const RETENTION_MS = 90 * DAY
/** Deletes notifications after 90 days, also unread ones. */
export const deleteOldNotifications = ({ db, clock }: Needs<'db' | 'clock'>): Promise<number> => {
  const before = earlier(clock.now(), RETENTION_MS)
  return inBatches((limit) => transact(db, (tx) => deleteNotificationsBefore(tx, before, limit)))
}
