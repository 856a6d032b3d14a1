import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { deleteExecutedBefore, deleteUnexecutedBefore } from './store.ts'

const UNEXECUTED_MS = DAY
const EXECUTED_MS = 90 * DAY
/** Deletes swaps that were never executed after a day, and others after 90 days. */
export async function deleteOldSwaps({ db, clock }: Needs<'db' | 'clock'>): Promise<number> {
  const now = clock.now()
  const unexecuted = await inBatches((limit) =>
    transact(db, (tx) => deleteUnexecutedBefore(tx, earlier(now, UNEXECUTED_MS), limit)),
  )
  const executed = await inBatches((limit) =>
    transact(db, (tx) => deleteExecutedBefore(tx, earlier(now, EXECUTED_MS), limit)),
  )
  return unexecuted + executed
}
