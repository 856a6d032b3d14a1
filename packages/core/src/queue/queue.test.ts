import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { enqueue } from './enqueue.ts'
import { queueMetrics, recordHeartbeat, releaseJobsOfDeadWorkers, removeHeartbeat } from './maintenance.ts'
import { deleteRemovedSweeps, runSweep, START_SWEEPS, startSweeps, startSweepsNow } from './sweeps.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

const jobOf = (agentId: `agt_${string}`) => ({ name: 'deliver-events', payload: { agentId } }) as const

interface Row {
  readonly id: bigint
  readonly payload: { agentId: string }
  readonly delayMs: number
  readonly locked_by: string | null
}

const jobs = async () =>
  (
    await sql<Row>`
      select id, payload, locked_by, extract(epoch from run_at - now())::float8 * 1000 as "delayMs"
      from graphile_worker._private_jobs order by id`.execute(ctx.db)
  ).rows

describe('enqueue', () => {
  test('jobs without a key are all kept and due at once', async () => {
    await enqueue(ctx.db, jobOf('agt_1'))
    await enqueue(ctx.db, jobOf('agt_1'))
    const waiting = await jobs()
    expect(waiting.map(({ payload }) => payload)).toEqual([{ agentId: 'agt_1' }, { agentId: 'agt_1' }])
    for (const { delayMs } of waiting) expect(delayMs).toBeLessThanOrEqual(0)
  })

  test('a second job under the same key replaces the payload and the time of the first', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k', delayMs: 60_000 })
    await enqueue(ctx.db, { ...jobOf('agt_2'), key: 'k' })
    const [only, ...more] = await jobs()
    expect(more).toEqual([])
    expect(only?.payload).toEqual({ agentId: 'agt_2' })
    expect(only?.delayMs).toBeLessThanOrEqual(0)
  })

  test('preserveRunAt: does not delay a job that already waits under the key', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k' })
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k', delayMs: 60_000, preserveRunAt: true })
    const [only, ...more] = await jobs()
    expect(more).toEqual([])
    expect(only?.delayMs).toBeLessThanOrEqual(0)
  })

  test('preserveRunAt: uses its own delay when no job waits under the key', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k', delayMs: 60_000, preserveRunAt: true })
    const [only] = await jobs()
    expect(only?.delayMs).toBeGreaterThan(50_000)
  })

  test('adds a second job when the one under the key is running', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k' })
    await lock('worker', 0)
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k' })
    expect((await jobs()).map(({ locked_by }) => locked_by)).toEqual(['worker', null])
  })
})

/** Marks jobs as locked by a worker since `secondsAgo`. */
const lock = async (worker: string, secondsAgo: number, id?: bigint) => {
  await sql`
    update graphile_worker._private_jobs set locked_by = ${worker},
      locked_at = now() - ${secondsAgo}::int * interval '1 second', attempts = 1
    where ${id ?? null}::bigint is null or id = ${id ?? null}`.execute(ctx.db)
}

const setLastHeartbeat = async (worker: string, secondsAgo: number) => {
  await recordHeartbeat(ctx, [worker])
  await sql`
    update worker_pools set seen_at = now() - ${secondsAgo}::int * interval '1 second'
    where worker_id = ${worker}`.execute(ctx.db)
}

const pools = async () =>
  (await ctx.db.selectFrom('worker_pools').select('worker_id').orderBy('worker_id').execute()).map(
    (row) => row.worker_id,
  )

describe('releaseJobsOfDeadWorkers', () => {
  test('unlocks only the jobs of workers without a recent heartbeat', async () => {
    const workers = [
      ['alive with an old job', 7_200],
      ['dead', 60],
      ['no heartbeat, old job', 60],
      ['no heartbeat, new job', 1],
    ] as const
    for (const _ of workers) await enqueue(ctx.db, jobOf('agt_1'))
    for (const [index, { id }] of (await jobs()).entries()) {
      const [worker, secondsAgo] = workers[index] ?? ['', 0]
      await lock(worker, secondsAgo, id)
    }
    await setLastHeartbeat('alive with an old job', 1)
    await setLastHeartbeat('dead', 6)
    await setLastHeartbeat('dead without a job', 6)

    const released = await releaseJobsOfDeadWorkers(ctx)
    expect(released.toSorted()).toEqual(['dead', 'dead without a job', 'no heartbeat, old job'])
    expect((await jobs()).map(({ locked_by }) => locked_by)).toEqual([
      'alive with an old job',
      null,
      null,
      'no heartbeat, new job',
    ])
    expect(await pools()).toEqual(['alive with an old job'])
    expect(await releaseJobsOfDeadWorkers(ctx)).toEqual([])
  })

  test('a worker that sends a heartbeat again counts as alive', async () => {
    await setLastHeartbeat('slow', 6)
    await recordHeartbeat(ctx, ['slow', 'new'])
    expect(await releaseJobsOfDeadWorkers(ctx)).toEqual([])
    expect(await pools()).toEqual(['new', 'slow'])
    await removeHeartbeat(ctx, ['slow'])
    expect(await pools()).toEqual(['new'])
  })

  test('concurrent calls unlock the job and do not fail', async () => {
    await enqueue(ctx.db, jobOf('agt_1'))
    await lock('dead', 60)
    await Promise.all(Array.from({ length: 8 }, () => releaseJobsOfDeadWorkers(ctx)))
    expect(await jobs()).toMatchObject([{ locked_by: null }])
  })
})

test('queueMetrics counts waiting, running and failing jobs and reports the oldest wait', async () => {
  expect(await queueMetrics(ctx)).toEqual({ waiting: 0, oldestSeconds: 0, running: 0, failing: 0 })
  for (const delayMs of [-30_000, 0, 0, 60_000]) await enqueue(ctx.db, { ...jobOf('agt_1'), delayMs })
  const [, second, third] = await jobs()
  await lock('worker', 1, second?.id)
  await sql`
    update graphile_worker._private_jobs set attempts = 1, last_error = 'broken' where id = ${third?.id}`.execute(
    ctx.db,
  )
  const metrics = await queueMetrics(ctx)
  expect(metrics).toMatchObject({ waiting: 2, running: 1, failing: 1 })
  expect(metrics.oldestSeconds).toBeGreaterThanOrEqual(30)
  expect(metrics.oldestSeconds).toBeLessThan(60)
})

describe('sweeps', () => {
  interface SweepJob {
    readonly task: string
    readonly key: string | null
    readonly attempts: number
    readonly locked: boolean
    readonly delayMs: number
  }
  const sweepJobs = async () =>
    (
      await sql<SweepJob>`
        select task_identifier as task, key, attempts::int4 as attempts, locked_at is not null as locked,
          extract(epoch from run_at - now())::float8 * 1000 as "delayMs"
        from graphile_worker.jobs order by task_identifier, id`.execute(ctx.db)
    ).rows
  const waits = { attempts: 0, locked: false }
  const inAMinute = () => new Date(Date.now() + 60_000)
  const lockTask = (task: string) =>
    sql`
    update graphile_worker._private_jobs as job set locked_by = 'worker', locked_at = now(), attempts = 1
    from graphile_worker._private_tasks as known where known.id = task_id and identifier = ${task}`.execute(
      ctx.db,
    )
  const fail = (task: string) =>
    sql`
    update graphile_worker._private_jobs as job set run_at = now() + interval '2 hours', attempts = 9, last_error = 'x'
    from graphile_worker._private_tasks as known where known.id = task_id and identifier = ${task}`.execute(
      ctx.db,
    )

  test('startSweeps: enqueues what is due, and the next start', async () => {
    await startSweeps(ctx, ['one', 'two'], inAMinute())
    const [one, start, two, ...more] = await sweepJobs()
    expect(more).toEqual([])
    expect(one).toMatchObject({ task: 'one', key: 'one', ...waits })
    expect(two).toMatchObject({ task: 'two', key: 'two', ...waits })
    expect(start).toMatchObject({ task: START_SWEEPS, key: START_SWEEPS, ...waits })
    expect(one?.delayMs).toBeLessThanOrEqual(0)
    expect(start?.delayMs).toBeGreaterThan(30_000)
  })

  test('startSweeps: leaves a sweep alone that waits or runs', async () => {
    await startSweeps(ctx, ['runs', 'waits'], inAMinute())
    await lockTask('runs')
    await startSweeps(ctx, ['runs', 'waits'], inAMinute())
    await runSweep(ctx, 'runs')
    expect(await sweepJobs()).toMatchObject([
      { task: 'runs', key: 'runs', attempts: 1, locked: true },
      { task: START_SWEEPS },
      { task: 'waits', key: 'waits', ...waits },
    ])
  })

  test('startSweeps: replaces the start that calls it, which is not run again when its worker dies', async () => {
    await startSweepsNow(ctx, [])
    await lockTask(START_SWEEPS)
    await startSweeps(ctx, [], inAMinute())
    await sql`select graphile_worker.force_unlock_workers(array['worker'])`.execute(ctx.db)
    expect(await sweepJobs()).toMatchObject([
      { task: START_SWEEPS, key: null, attempts: 1_000, locked: false },
      { task: START_SWEEPS, key: START_SWEEPS, ...waits },
    ])
  })

  test('concurrent calls leave one job of each sweep', async () => {
    await Promise.all(Array.from({ length: 8 }, () => startSweeps(ctx, ['one', 'two'], inAMinute())))
    expect((await sweepJobs()).map(({ key }) => key)).toEqual(['one', START_SWEEPS, 'two'])
  })

  test('startSweepsNow: makes a sweep due that a failure delayed, and leaves one alone that runs', async () => {
    await startSweepsNow(ctx, ['failed', 'runs'])
    await lockTask('runs')
    for (const task of ['failed', START_SWEEPS]) await fail(task)
    await startSweepsNow(ctx, ['failed', 'new', 'runs'])
    const found = await sweepJobs()
    expect(found).toMatchObject([
      { task: 'failed', ...waits },
      { task: 'new', ...waits },
      { task: 'runs', attempts: 1, locked: true },
      { task: START_SWEEPS, ...waits },
    ])
    for (const { delayMs } of found) expect(delayMs).toBeLessThanOrEqual(0)
  })

  test('deleteRemovedSweeps: deletes overdue jobs of other sweeps, and nothing else', async () => {
    await startSweepsNow(ctx, ['known', 'removed', 'removed and running', 'newer'])
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'deliver-events:agt_1' })
    await sql`update graphile_worker._private_jobs set run_at = now() - interval '1 minute'`.execute(ctx.db)
    await sql`
      update graphile_worker._private_jobs set run_at = now() where key = 'newer'`.execute(ctx.db)
    await lockTask('removed and running')
    await deleteRemovedSweeps(ctx, ['known'])
    expect((await sweepJobs()).map(({ task }) => task)).toEqual([
      'deliver-events',
      'known',
      'newer',
      'removed and running',
      START_SWEEPS,
    ])
  })
})
