import type { Needs } from '../context.ts'
import { deleteOverdue, makeDue, startDueSweepJobs, startSweepJobs } from './store.ts'

/** A sweep is a job whose key is its name. A job that waits or runs is left alone, so at most one worker runs a sweep. */
interface SweepInterval {
  readonly name: string
  readonly everyMs: number
}

/**
 * Enqueues the sweeps that have a multiple of their interval in the time since the last tick, when there was a tick since.
 * Any number of workers can call this at any time.
 */
export const startDueSweeps = (
  ctx: Needs<'db'>,
  sweeps: readonly SweepInterval[],
  tickMs: number,
): Promise<void> =>
  startDueSweepJobs(
    ctx.db,
    sweeps.map(({ name }) => name),
    sweeps.map(({ everyMs }) => everyMs),
    tickMs,
  )

/** Enqueues a run of one sweep. Does nothing while one waits or runs. */
export const runSweep = (ctx: Needs<'db'>, name: string): Promise<void> => startSweepJobs(ctx.db, [name])

/** Every sweep runs when a worker starts, also one that a failure has delayed. */
export async function startSweepsNow(ctx: Needs<'db'>, names: readonly string[]): Promise<void> {
  // fix: delayed-sweeps-start
  await makeDue(ctx.db, names)
  await startSweepJobs(ctx.db, names)
}

/** A sweep that a worker of another version has is run sooner. If it is deleted all the same, it is due again at its next time. */
const REMOVED_AFTER_SECONDS = 30

/** Deletes the jobs of sweeps that are none of these and that no worker runs. */
export const deleteRemovedSweeps = (ctx: Needs<'db'>, names: readonly string[]): Promise<void> =>
  deleteOverdue(ctx.db, names, REMOVED_AFTER_SECONDS)
