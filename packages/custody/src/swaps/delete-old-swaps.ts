import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { deleteSwapsBefore } from './store.ts'

const UNEXECUTED_MS = DAY
const EXECUTED_MS = 90 * DAY
const MAX_BATCHES = 100

/** Deletes swaps that were never executed after a day, and others after 90 days. */
export const deleteOldSwaps = ({ db, clock }: Needs<'db' | 'clock'>): Promise<number> => {
  const now = clock.now()
  const before = { unexecuted: earlier(now, UNEXECUTED_MS), executed: earlier(now, EXECUTED_MS) }
  return inBatches(MAX_BATCHES, (limit) => transact(db, (tx) => deleteSwapsBefore(tx, before, limit)))
}
