import type { Db, Tx } from '@market/database/transact'
import { withoutFlush } from '@market/database/without-flush'
import { type RawBuilder, sql } from 'kysely'
import type { Job, JobName } from './job.ts'

/** High enough that a failing job is never abandoned; the metrics show it. */
const MAX_ATTEMPTS = 1_000

/**
 * The SQL call that adds a job and returns its id, for use inside another statement. It is a function of the owner,
 * because the api's role may not write the tables of the job engine.
 */
export const addJobCall = <Name extends JobName>(job: Job<Name>): RawBuilder<bigint> => sql`
  enqueue_job(
    ${job.name}, ${JSON.stringify(job.payload)}::json, ${MAX_ATTEMPTS}::int,
    now() + ${job.delayMs ?? 0}::float8 * interval '1 millisecond', ${job.key ?? null}::text,
    ${job.preserveRunAt === true ? 'preserve_run_at' : 'replace'}::text
  )`

export async function insertJob<Name extends JobName>(db: Db | Tx, job: Job<Name>): Promise<void> {
  await sql`select ${addJobCall(job)}${job.isRecoverable === true ? sql` where ${withoutFlush}` : sql``}`.execute(
    db,
  )
}

/** The commit need not wait for the disk: after a crash of Postgres the clock of the sweeps is as old as their jobs. */
export async function startSweepJobs(db: Db, names: readonly string[]): Promise<void> {
  await sql`select start_sweeps(${[...names]}::text[], ${MAX_ATTEMPTS}::int) where ${withoutFlush}`.execute(
    db,
  )
}

export async function startDueSweepJobs(
  db: Db,
  names: readonly string[],
  intervalsMs: readonly number[],
  tickMs: number,
): Promise<void> {
  await sql`
    select start_due_sweeps(
      ${[...names]}::text[], ${[...intervalsMs]}::bigint[], ${tickMs}::bigint, ${MAX_ATTEMPTS}::int
    ) where ${withoutFlush}`.execute(db)
}

/** Makes jobs due that wait, and forgets how often they failed. */
export async function makeDue(db: Db, names: readonly string[]): Promise<void> {
  await sql`
    select graphile_worker.reschedule_jobs(array_agg(id), run_at := now(), attempts := 0) from graphile_worker.jobs
    where key = any(${[...names]}::text[]) and locked_at is null having count(*) > 0`.execute(db)
}

/** The next one is a second away, so this one need not be on the disk. */
export async function saveHeartbeat(db: Db, poolIds: readonly string[]): Promise<void> {
  await sql`
    insert into worker_pools (worker_id, seen_at)
    select id, now() from unnest(${[...poolIds]}::text[]) as id where ${withoutFlush}
    on conflict (worker_id) do update set seen_at = now()`.execute(db)
}

/** Pools that have a job locked or once sent a heartbeat, without a heartbeat in the last `seconds`. */
export async function findDeadPools(db: Db, seconds: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from (
      select worker_id as id from worker_pools where seen_at < now() - ${seconds}::int * interval '1 second'
      union
      select locked_by from graphile_worker.jobs
      where locked_at < now() - ${seconds}::int * interval '1 second' and locked_by is not null
    ) as pools
    where id not in (
      select worker_id from worker_pools where seen_at >= now() - ${seconds}::int * interval '1 second'
    )`.execute(db)
  return rows.map((row) => row.id)
}

export async function unlockAllOf(db: Db, poolIds: readonly string[]): Promise<void> {
  await sql`select graphile_worker.force_unlock_workers(${[...poolIds]}::text[])`.execute(db)
}

/** Unlocks jobs that these pools locked more than `seconds` ago and that are not among the running ones. */
export async function unlockUnknown(
  db: Db,
  poolIds: readonly string[],
  runningJobIds: readonly string[],
  seconds: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update graphile_worker._private_jobs set locked_at = null, locked_by = null
    where locked_by = any(${[...poolIds]}::text[]) and locked_at < now() - ${seconds}::int * interval '1 second'
      and id <> all(${[...runningJobIds]}::bigint[])`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** A job without a key that may not be tried again was replaced while it was locked, and its worker died. */
export async function deleteReplaced(db: Db): Promise<void> {
  await sql`
    select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
    where key is null and locked_at is null and attempts >= max_attempts having count(*) > 0`.execute(db)
}

/** Deletes overdue jobs that have their name as the key and are none of these. */
export async function deleteOverdue(db: Db, names: readonly string[], seconds: number): Promise<void> {
  await sql`
    select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
    where key = task_identifier and key <> all(${[...names]}::text[]) and locked_at is null
      and run_at < now() - ${seconds}::int * interval '1 second' having count(*) > 0`.execute(db)
}

export async function deletePools(db: Db, poolIds: readonly string[]): Promise<void> {
  await db
    .deleteFrom('worker_pools')
    .where('worker_id', 'in', [...poolIds])
    .execute()
}

export async function rescheduleFailed(db: Db, seconds: number): Promise<void> {
  await sql`
    select graphile_worker.reschedule_jobs(array_agg(id), run_at := now()) from graphile_worker.jobs
    where locked_at is null and last_error is not null and run_at > now() + ${seconds}::int * interval '1 second'
    having count(*) > 0`.execute(db)
}

export interface QueueMetrics {
  /** Jobs that are due and not locked. At most ten thousand due jobs are counted. */
  readonly waiting: number
  readonly oldestSeconds: number
  readonly running: number
  /** Jobs that failed at least once and wait for a retry. */
  readonly failing: number
}

/** A function of the owner counts, because the api's role may not read the tables of the job engine. */
export async function findQueueMetrics(db: Db): Promise<QueueMetrics> {
  const { rows } = await sql<QueueMetrics>`
    select waiting, oldest_seconds as "oldestSeconds", running, failing from job_queue_metrics()`.execute(db)
  return rows[0] ?? { waiting: 0, oldestSeconds: 0, running: 0, failing: 0 }
}
