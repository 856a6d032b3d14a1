import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { enqueue } from './enqueue.ts'
import { queueMetrics, recordHeartbeat, releaseJobsOfDeadWorkers, removeHeartbeat } from './maintenance.ts'
import { deleteRemovedSweeps, runSweep, startDueSweeps, startSweepsNow } from './sweeps.ts'

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
  const names = async () => (await sweepJobs()).map(({ task }) => task)
  const lockTask = (task: string) =>
    sql`
    update graphile_worker._private_jobs as job set locked_by = 'worker', locked_at = now(), attempts = 1
    from graphile_worker._private_tasks as known where known.id = task_id and identifier = ${task}`.execute(
      ctx.db,
    )
  const deleteJobs = () => sql`delete from graphile_worker._private_jobs`.execute(ctx.db)
  /** Sets until when due sweeps were enqueued. */
  const setClock = (until: Date) => ctx.db.updateTable('sweep_clock').set({ started_until: until }).execute()
  const clock = async () =>
    (await ctx.db.selectFrom('sweep_clock').select('started_until').executeTakeFirstOrThrow()).started_until
  const DAY = 86_400_000
  const SWEEPS = [
    { name: 'second', everyMs: 1_000 },
    { name: 'minute', everyMs: 60_000 },
    { name: 'millennium', everyMs: 365_000 * DAY },
  ]
  const tick = (tickMs = DAY) => startDueSweeps(ctx, SWEEPS, tickMs)
  /** So that the times of a test are within one tick, however slow the machine is. */
  const nextTick = (tickMs = DAY) => new Date((Math.floor(Date.now() / tickMs) + 1) * tickMs)

  test('startDueSweeps: enqueues the sweeps with a multiple of their interval since the last tick, once', async () => {
    await setClock(new Date(Math.floor(Date.now() / DAY) * DAY))
    await tick()
    expect(await sweepJobs()).toMatchObject([
      { task: 'minute', key: 'minute', ...waits },
      { task: 'second', key: 'second', ...waits },
    ])
    expect(await clock()).toEqual(nextTick())
    await deleteJobs()
    await tick()
    expect(await names()).toEqual([])
  })

  test('startDueSweeps: a sweep is due at each multiple of its interval, whatever the ticks are', async () => {
    const sweeps = [{ name: 'thirds', everyMs: 3 * DAY }]
    const today = Math.floor(Date.now() / DAY)
    const due: number[] = []
    // The tick ends tomorrow; the clock says from when on multiples count.
    for (let from = today - 5; from <= today; from++) {
      await deleteJobs()
      await setClock(new Date(from * DAY + 1))
      await startDueSweeps(ctx, sweeps, DAY)
      if ((await names()).length > 0) due.push(from)
    }
    const isDue = (from: number) => Math.floor(today / 3) * 3 > from
    expect(due).toEqual([5, 4, 3, 2, 1, 0].map((ago) => today - ago).filter(isDue))
  })

  test('startDueSweeps: the sweeps of missed ticks are due once', async () => {
    await setClock(new Date(0))
    await tick()
    expect(await names()).toEqual(['millennium', 'minute', 'second'])
  })

  test('startDueSweeps: goes on after the clock of the server was set back', async () => {
    await setClock(new Date(Date.now() + 9 * DAY))
    await tick()
    expect(await names()).toEqual([])
    expect(await clock()).toEqual(nextTick())
  })

  test('startDueSweeps: of concurrent calls one enqueues', async () => {
    await setClock(new Date(0))
    await Promise.all(Array.from({ length: 8 }, () => tick()))
    expect(await names()).toEqual(['millennium', 'minute', 'second'])
  })

  test('a sweep that waits or runs is left alone', async () => {
    await startSweepsNow(ctx, ['runs', 'waits'])
    await lockTask('runs')
    const sweeps = ['runs', 'waits'].map((name) => ({ name, everyMs: 1_000 }))
    await setClock(new Date(0))
    await Promise.all([
      startDueSweeps(ctx, sweeps, DAY),
      ...Array.from({ length: 8 }, () => runSweep(ctx, 'runs')),
      startSweepsNow(ctx, ['runs', 'waits']),
    ])
    expect(await sweepJobs()).toMatchObject([
      { task: 'runs', key: 'runs', attempts: 1, locked: true },
      { task: 'waits', key: 'waits', ...waits },
    ])
  })

  test('startSweepsNow: makes a sweep due that a failure delayed', async () => {
    await startSweepsNow(ctx, ['failed'])
    await sql`
      update graphile_worker._private_jobs
      set run_at = now() + interval '2 hours', attempts = 9, last_error = 'x'`.execute(ctx.db)
    await startSweepsNow(ctx, ['failed', 'new'])
    const found = await sweepJobs()
    expect(found).toMatchObject([
      { task: 'failed', ...waits },
      { task: 'new', ...waits },
    ])
    for (const { delayMs } of found) expect(delayMs).toBeLessThanOrEqual(0)
  })

  test('deleteRemovedSweeps: deletes overdue jobs of other sweeps, and nothing else', async () => {
    await startSweepsNow(ctx, ['known', 'removed', 'removed and running', 'newer'])
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'deliver-events:agt_1' })
    await sql`update graphile_worker._private_jobs set run_at = now() - interval '1 minute'`.execute(ctx.db)
    await sql`update graphile_worker._private_jobs set run_at = now() where key = 'newer'`.execute(ctx.db)
    await lockTask('removed and running')
    await deleteRemovedSweeps(ctx, ['known'])
    expect(await names()).toEqual(['deliver-events', 'known', 'newer', 'removed and running'])
  })
})
