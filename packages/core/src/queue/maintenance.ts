import type { Needs } from '../context.ts'
import {
  deletePools,
  deleteReplaced,
  findDeadPools,
  findQueueMetrics,
  type QueueMetrics,
  rescheduleFailed,
  saveHeartbeat,
  unlockAllOf,
  unlockUnknown,
} from './store.ts'

/** A worker without a heartbeat for this long is dead. Jobs are idempotent, so a worker that was only slow does no harm. */
const DEAD_AFTER_SECONDS = 5

/** Longer than any query may take, so that a job whose lock was just acquired is not released. */
const LOST_AFTER_SECONDS = 10

/** graphile-worker backs off up to hours. Jobs only fail because of an outage, so they are retried soon. */
const MAX_BACKOFF_SECONDS = 5

export const recordHeartbeat = (ctx: Needs<'db'>, poolIds: readonly string[]): Promise<void> =>
  saveHeartbeat(ctx.db, poolIds)

/** Called when a worker shuts down. */
export const removeHeartbeat = (ctx: Needs<'db'>, poolIds: readonly string[]): Promise<void> =>
  deletePools(ctx.db, poolIds)

/** Unlocks the jobs of dead workers and returns these workers. graphile-worker itself would wait four hours. */
export async function releaseJobsOfDeadWorkers(ctx: Needs<'db'>): Promise<readonly string[]> {
  const dead = await findDeadPools(ctx.db, DEAD_AFTER_SECONDS)
  if (dead.length === 0) return dead
  await unlockAllOf(ctx.db, dead)
  await deletePools(ctx.db, dead)
  return dead
}

/**
 * Unlocks the jobs that are locked by running workers that do not run them. It happens when the connection breaks
 * after the lock was committed and before the worker received the job.
 */
export const releaseLostJobs = (
  ctx: Needs<'db'>,
  poolIds: readonly string[],
  runningJobIds: readonly string[],
): Promise<number> => unlockUnknown(ctx.db, poolIds, runningJobIds, LOST_AFTER_SECONDS)

/** Deletes jobs that were replaced while a worker that died since had them locked. They would never run. */
export const deleteReplacedJobs = (ctx: Needs<'db'>): Promise<void> => deleteReplaced(ctx.db)

export const retryFailedJobsSoon = (ctx: Needs<'db'>): Promise<void> =>
  rescheduleFailed(ctx.db, MAX_BACKOFF_SECONDS)

export const queueMetrics = (ctx: Needs<'db'>): Promise<QueueMetrics> => findQueueMetrics(ctx.db)
