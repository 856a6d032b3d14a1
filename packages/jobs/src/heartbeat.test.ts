import { deleteReplacedJobs, enqueue, recordHeartbeat } from '@market/core/queue'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { startHeartbeat } from './heartbeat.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

function openHeartbeat(...ids: string[]) {
  const warnings: { fields: object; message: string }[] = []
  const log = { warn: (fields: object, message: string) => void warnings.push({ fields, message }) }
  const jobIds = new Set<string>()
  const heartbeat = startHeartbeat(ctx, { poolIds: new Set(ids), jobIds }, log)
  onTestFinished(() => heartbeat.stop())
  return { heartbeat, warnings, jobIds }
}

const pools = async () =>
  (await ctx.db.selectFrom('worker_pools').selectAll().orderBy('worker_id').execute()).map(
    (row) => row.worker_id,
  )

const stopHeartbeat = (worker: string) =>
  ctx.db
    .updateTable('worker_pools')
    .set({ seen_at: new Date(Date.now() - 60_000) })
    .where('worker_id', '=', worker)
    .execute()

test('a worker records its heartbeat and removes it when it stops', async () => {
  const { heartbeat, warnings } = openHeartbeat('one')
  await heartbeat.beat()
  expect(await pools()).toEqual(['one'])
  await heartbeat.stop()
  expect(await pools()).toEqual([])
  expect(warnings).toEqual([])
})

test('a worker without a pool records no heartbeat', async () => {
  const { heartbeat } = openHeartbeat()
  await heartbeat.beat()
  expect(await pools()).toEqual([])
})

test('removes dead workers, logs them once, and leaves the others', async () => {
  await recordHeartbeat(ctx, ['dead', 'other'])
  await stopHeartbeat('dead')
  const { heartbeat, warnings } = openHeartbeat('one')
  await heartbeat.beat()
  await heartbeat.beat()
  expect(await pools()).toEqual(['one', 'other'])
  expect(warnings).toEqual([{ fields: { pools: ['dead'] }, message: 'released the jobs of dead workers' }])
})

test('a worker that missed heartbeats does not release its own jobs', async () => {
  const { heartbeat, warnings } = openHeartbeat('one')
  await heartbeat.beat()
  await stopHeartbeat('one')
  await enqueue(ctx.db, { name: 'deliver-events', payload: { agentId: 'agt_1' } })
  await heartbeat.beat()
  expect(await pools()).toEqual(['one'])
  expect(warnings).toEqual([])
})

const lockJob = async (pool: string, seconds: number): Promise<string> => {
  await enqueue(ctx.db, {
    name: 'deliver-events',
    payload: { agentId: 'agt_1' },
    key: `of-${pool}-${seconds}`,
  })
  const { rows } = await sql<{ id: bigint }>`
    update graphile_worker._private_jobs
    set locked_by = ${pool}, locked_at = now() - ${seconds}::int * interval '1 second', attempts = 1
    where key = ${`of-${pool}-${seconds}`} returning id`.execute(ctx.db)
  return String(rows[0]?.id)
}

const lockedJobs = async (): Promise<string[]> => {
  const { rows } = await sql<{ id: bigint }>`
    select id from graphile_worker._private_jobs where locked_at is not null order by id`.execute(ctx.db)
  return rows.map(({ id }) => String(id))
}

test('releases a job that is locked by this worker and not running', async () => {
  await recordHeartbeat(ctx, ['other'])
  const { heartbeat, warnings, jobIds } = openHeartbeat('one')
  const lost = await lockJob('one', 11)
  const known = await lockJob('one', 12)
  const justLocked = await lockJob('one', 1)
  const others = await lockJob('other', 11)
  jobIds.add(known)
  await heartbeat.beat()
  expect(await lockedJobs()).toEqual([known, justLocked, others].toSorted((a, b) => Number(a) - Number(b)))
  expect(await lockedJobs()).not.toContain(lost)
  expect(warnings).toEqual([
    { fields: { jobs: 1 }, message: 'released jobs that this worker had locked but never received' },
  ])
})

test('deleteReplacedJobs: deletes only jobs that were replaced while a dead worker had them locked', async () => {
  const kept = await lockJob('one', 1)
  await sql`
    insert into graphile_worker._private_jobs (task_id, payload, key, attempts, max_attempts)
    select task_id, payload, null, 1000, 1000 from graphile_worker._private_jobs limit 1`.execute(ctx.db)
  await deleteReplacedJobs(ctx)
  const { rows } = await sql<{ id: bigint }>`select id from graphile_worker._private_jobs`.execute(ctx.db)
  expect(rows.map(({ id }) => String(id))).toEqual([kept])
})
