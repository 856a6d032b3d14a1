import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { enqueue } from './enqueue.ts'
import { freeSilent } from './free-silent.ts'
import { queueFigures } from './queue-figures.ts'
import { sayAlive, sayGoodbye } from './say-alive.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

const jobOf = (agentId: `agt_${string}`) => ({ name: 'carry-events', payload: { agentId } }) as const

interface Row {
  readonly id: bigint
  readonly payload: { agentId: string }
  readonly inMs: number
  readonly locked_by: string | null
}

const jobs = async () =>
  (
    await sql<Row>`
      select id, payload, locked_by, extract(epoch from run_at - now())::float8 * 1000 as "inMs"
      from graphile_worker._private_jobs order by id`.execute(ctx.db)
  ).rows

describe('jobs', () => {
  test('without a key each is its own, and due at once', async () => {
    await enqueue(ctx.db, jobOf('agt_1'))
    await enqueue(ctx.db, jobOf('agt_1'))
    const waiting = await jobs()
    expect(waiting.map(({ payload }) => payload)).toEqual([{ agentId: 'agt_1' }, { agentId: 'agt_1' }])
    for (const { inMs } of waiting) expect(inMs).toBeLessThanOrEqual(0)
  })

  test('under one key one waits, at the time that was said last', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k', inMs: 60_000 })
    await enqueue(ctx.db, { ...jobOf('agt_2'), key: 'k' })
    const [only, ...more] = await jobs()
    expect(more).toEqual([])
    expect(only?.payload).toEqual({ agentId: 'agt_2' })
    expect(only?.inMs).toBeLessThanOrEqual(0)
  })

  test('one that keeps the time of what already waits does not put it off', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k' })
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k', inMs: 60_000, keepsTime: true })
    const [only, ...more] = await jobs()
    expect(more).toEqual([])
    expect(only?.inMs).toBeLessThanOrEqual(0)
  })

  test('one that keeps the time waits its own time where nothing waits', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k', inMs: 60_000, keepsTime: true })
    const [only] = await jobs()
    expect(only?.inMs).toBeGreaterThan(50_000)
  })

  test('asked for while it runs, a job waits beside the one that runs', async () => {
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k' })
    await hold('worker', 0)
    await enqueue(ctx.db, { ...jobOf('agt_1'), key: 'k' })
    expect((await jobs()).map(({ locked_by }) => locked_by)).toEqual(['worker', null])
  })
})

/** As jobs stand that a worker took so many seconds ago. */
const hold = async (worker: string, secondsAgo: number, id?: bigint) => {
  await sql`
    update graphile_worker._private_jobs set locked_by = ${worker},
      locked_at = now() - ${secondsAgo}::int * interval '1 second', attempts = 1
    where ${id ?? null}::bigint is null or id = ${id ?? null}`.execute(ctx.db)
}

const lastSeen = async (worker: string, secondsAgo: number) => {
  await sayAlive(ctx, [worker])
  await sql`
    update worker_pools set seen_at = now() - ${secondsAgo}::int * interval '1 second'
    where worker_id = ${worker}`.execute(ctx.db)
}

const pools = async () =>
  (await ctx.db.selectFrom('worker_pools').select('worker_id').orderBy('worker_id').execute()).map(
    (row) => row.worker_id,
  )

describe('the heartbeat', () => {
  test('frees the jobs of those who are silent, and of nobody else', async () => {
    const holders = [
      ['alive and long at work', 7_200],
      ['silent', 60],
      ['never heard of, since long', 60],
      ['never heard of, since now', 1],
    ] as const
    for (const _ of holders) await enqueue(ctx.db, jobOf('agt_1'))
    for (const [index, { id }] of (await jobs()).entries()) {
      const [worker, secondsAgo] = holders[index] ?? ['', 0]
      await hold(worker, secondsAgo, id)
    }
    await lastSeen('alive and long at work', 1)
    await lastSeen('silent', 6)
    await lastSeen('silent, with nothing to do', 6)

    const freed = await freeSilent(ctx)
    expect(freed.toSorted()).toEqual(['never heard of, since long', 'silent', 'silent, with nothing to do'])
    expect((await jobs()).map(({ locked_by }) => locked_by)).toEqual([
      'alive and long at work',
      null,
      null,
      'never heard of, since now',
    ])
    expect(await pools()).toEqual(['alive and long at work'])
    expect(await freeSilent(ctx)).toEqual([])
  })

  test('one that was thought dead and speaks again is alive', async () => {
    await lastSeen('slow', 6)
    await sayAlive(ctx, ['slow', 'new'])
    expect(await freeSilent(ctx)).toEqual([])
    expect(await pools()).toEqual(['new', 'slow'])
    await sayGoodbye(ctx, ['slow'])
    expect(await pools()).toEqual(['new'])
  })

  test('many that free at once free each job once and fail none', async () => {
    await enqueue(ctx.db, jobOf('agt_1'))
    await hold('silent', 60)
    await Promise.all(Array.from({ length: 8 }, () => freeSilent(ctx)))
    expect(await jobs()).toMatchObject([{ locked_by: null }])
  })
})

test('the figures tell what waits, for how long, what runs and what fails', async () => {
  expect(await queueFigures(ctx)).toEqual({ waiting: 0, oldestSeconds: 0, running: 0, failing: 0 })
  for (const inMs of [-30_000, 0, 0, 60_000]) await enqueue(ctx.db, { ...jobOf('agt_1'), inMs })
  const [, second, third] = await jobs()
  await hold('worker', 1, second?.id)
  await sql`
    update graphile_worker._private_jobs set attempts = 1, last_error = 'broken' where id = ${third?.id}`.execute(
    ctx.db,
  )
  const figures = await queueFigures(ctx)
  expect(figures).toMatchObject({ waiting: 2, running: 1, failing: 1 })
  expect(figures.oldestSeconds).toBeGreaterThanOrEqual(30)
  expect(figures.oldestSeconds).toBeLessThan(60)
})
