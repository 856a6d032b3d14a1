import { enqueue, sayAlive } from '@market/market/queue'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { keepHeartbeat } from './heartbeat.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

function startHeartbeat(...ids: string[]) {
  const warnings: { fields: object; message: string }[] = []
  const log = { warn: (fields: object, message: string) => void warnings.push({ fields, message }) }
  const heartbeat = keepHeartbeat(ctx, new Set(ids), log)
  onTestFinished(() => heartbeat.stop())
  return { heartbeat, warnings }
}

const pools = async () =>
  (await ctx.db.selectFrom('worker_pools').selectAll().orderBy('worker_id').execute()).map(
    (row) => row.worker_id,
  )

const silence = (worker: string) =>
  ctx.db
    .updateTable('worker_pools')
    .set({ seen_at: new Date(Date.now() - 60_000) })
    .where('worker_id', '=', worker)
    .execute()

test('a worker says that it is there, and says goodbye when it ends', async () => {
  const { heartbeat, warnings } = startHeartbeat('one')
  await heartbeat.beat()
  expect(await pools()).toEqual(['one'])
  await heartbeat.stop()
  expect(await pools()).toEqual([])
  expect(warnings).toEqual([])
})

test('one that has no pool yet says nothing', async () => {
  const { heartbeat } = startHeartbeat()
  await heartbeat.beat()
  expect(await pools()).toEqual([])
})

test('the living forget the silent, tell the log once, and leave the living alone', async () => {
  await sayAlive(ctx, ['dead', 'other'])
  await silence('dead')
  const { heartbeat, warnings } = startHeartbeat('one')
  await heartbeat.beat()
  await heartbeat.beat()
  expect(await pools()).toEqual(['one', 'other'])
  expect(warnings).toEqual([
    { fields: { pools: ['dead'] }, message: 'freed the jobs of workers that are silent' },
  ])
})

test('a beat that was missed for long does not make a worker its own victim', async () => {
  const { heartbeat, warnings } = startHeartbeat('one')
  await heartbeat.beat()
  await silence('one')
  await enqueue(ctx.db, { name: 'carry-events', payload: { agentId: 'agt_1' } })
  await heartbeat.beat()
  expect(await pools()).toEqual(['one'])
  expect(warnings).toEqual([])
})
