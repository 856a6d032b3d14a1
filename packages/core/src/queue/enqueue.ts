import type { Db, Tx } from '@market/database/transact'
import type { Job, JobName } from './job.ts'
import { insertJob } from './store.ts'

/** Adds a job in the caller's transaction: it exists if, and only if, what needs it was committed. */
export const enqueue = <Name extends JobName>(db: Db | Tx, job: Job<Name>): Promise<void> =>
  insertJob(db, job)
