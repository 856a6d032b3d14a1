import type { Needs } from '../context.ts'
import { addMissing, addMissingAndNext, deleteOverdue, makeDue } from './store.ts'

/** The job that starts the sweeps that are due. One waits or runs at any time, under its name as the key. */
export const START_SWEEPS = 'start-sweeps'

/**
 * Enqueues a run of each sweep, and in the same statement the next `start-sweeps`. The name of a sweep is the key of its job,
 * and a job that waits or runs is left alone. So at most one worker runs a sweep, and a run that takes longer than the
 * interval does not pile up.
 */
export const startSweeps = (ctx: Needs<'db'>, due: readonly string[], next: Date): Promise<void> =>
  addMissingAndNext(ctx.db, due, { name: START_SWEEPS, at: next })

/** Enqueues a run of one sweep. Does nothing while one waits or runs. */
export const runSweep = (ctx: Needs<'db'>, name: string): Promise<void> => addMissing(ctx.db, [name])

/** Every sweep runs when a worker starts, and so does `start-sweeps`: also one that a failure has delayed. */
export async function startSweepsNow(ctx: Needs<'db'>, names: readonly string[]): Promise<void> {
  const all = [...names, START_SWEEPS]
  // fix: delayed-sweeps-start
  await makeDue(ctx.db, all)
  await addMissing(ctx.db, all)
}

/** A sweep that a worker of another version has is run sooner. If it is deleted all the same, it is due again at its next time. */
const REMOVED_AFTER_SECONDS = 30

/** Deletes the jobs of sweeps that are none of these and that no worker runs. */
export const deleteRemovedSweeps = (ctx: Needs<'db'>, names: readonly string[]): Promise<void> =>
  deleteOverdue(ctx.db, [...names, START_SWEEPS], REMOVED_AFTER_SECONDS)
