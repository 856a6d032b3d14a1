import { enqueue, queueMetrics, startSweepsNow } from '@market/core/queue'
import { connect, openPool } from '@market/database/connect'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { TIMEOUT_FACTOR, testDatabase } from '@market/testing/postgres'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type EngineSettings, startRunner } from './runner.ts'
import { type Sweep, sweepEngine, sweepTicks } from './start-sweeps.ts'

const NOTHING = () => undefined
const LONG = { timeout: 120_000 }

/** Runs these sweeps, which count their runs, beside other engines. */
async function startSweepRunner(
  sweeps: readonly Pick<Sweep<MarketContext>, 'name' | 'everyMs' | 'run'>[],
  others: readonly EngineSettings[] = [],
) {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const connection = { url: database.url, maxConnections: 6, timeoutFactor: TIMEOUT_FACTOR }
  const pool = openPool({ ...connection, plainTypes: true })
  const failed: string[] = []
  const onFailure = (name: string) => void failed.push(name)
  const listed = sweeps.map((sweep) => ({ ...sweep, does: 'Counts its runs' }))
  const log = { warn: NOTHING, error: NOTHING }
  const settings = { ctx, sweeps: listed, log, onFailure }
  const runner = await startRunner({
    ...{ pool, ctx, log, onFailure },
    engines: [...others, sweepEngine(settings)],
    beatWork: sweepTicks(settings),
  })
  onTestFinished(async () => {
    await runner.stop()
    await pool.end()
    await database.stop()
  })
  return {
    ctx,
    failed,
    begin: () =>
      startSweepsNow(
        ctx,
        sweeps.map(({ name }) => name),
      ),
  }
}

test('a sweep that fails runs again at its interval, and each failure is counted', async () => {
  let runs = 0
  const run = async () => {
    runs++
    throw new Error('the sweep fails')
  }
  const { failed, begin } = await startSweepRunner([{ name: 'fails', everyMs: 1_000, run }])
  await begin()
  // The pauses of the engine after failures would add up to several minutes.
  await vi.waitUntil(() => runs >= 6, { timeout: 60_000 })
  expect(failed.length).toBeGreaterThanOrEqual(5)
  expect(new Set(failed)).toEqual(new Set(['fails']))
})

test('run-sweep: runs a sweep before its interval has passed, and not one that is unknown', async () => {
  let runs = 0
  const run = async () => void runs++
  const { ctx } = await startSweepRunner([{ name: 'advance-payouts', everyMs: 86_400_000, run }])
  await enqueue(ctx.db, { name: 'run-sweep', payload: { sweep: 'advance-earn-moves' } })
  await ctx
    .transact(async (tx) => {
      await enqueue(tx, { name: 'run-sweep', payload: { sweep: 'advance-payouts' } })
      throw new Error('rolled back')
    })
    .catch(NOTHING)
  expect(runs).toBe(0)
  await ctx.transact((tx) => enqueue(tx, { name: 'run-sweep', payload: { sweep: 'advance-payouts' } }))
  await vi.waitUntil(() => runs === 1, LONG)
})

test('sweeps run while every job waits for its endpoint', async () => {
  const waiting = Promise.withResolvers<void>()
  let jobs = 0
  let runs = 0
  const deliver = () => {
    jobs++
    return waiting.promise
  }
  const { ctx, begin } = await startSweepRunner(
    [{ name: 'counts', everyMs: 1_000, run: async () => void runs++ }],
    [{ tasks: { 'deliver-events': deliver }, concurrency: 2, pollMs: 250 }],
  )
  // Runs before the runner stops, which waits for the jobs.
  onTestFinished(() => waiting.resolve())
  for (const agentId of ['agt_1', 'agt_2', 'agt_3'] as const)
    await enqueue(ctx.db, { name: 'deliver-events', payload: { agentId } })
  await vi.waitUntil(() => jobs === 2, LONG)
  await begin()
  await vi.waitUntil(() => runs >= 3, LONG)
  expect(jobs).toBe(2)
})

test('sweepTicks: when the database is away, the failure is counted and the next tick tries again', async () => {
  const database = await testDatabase()
  const failed: string[] = []
  const onFailure = (name: string) => void failed.push(name)
  const sweeps = [{ name: 'one', everyMs: 1_000, does: 'Nothing', run: async () => {} }]
  const log = { error: NOTHING }
  const away = connect({ url: 'postgres://nobody@127.0.0.1:1/away' })
  onTestFinished(async () => {
    await away.destroy()
    await database.stop()
  })
  await sweepTicks({ ctx: { db: away }, sweeps, log, onFailure }).run()
  expect(failed).toEqual(['start-sweeps'])
  await database.db
    .updateTable('sweep_clock')
    .set({ started_until: new Date(0) })
    .execute()
  await sweepTicks({ ctx: { db: database.db }, sweeps, log, onFailure }).run()
  expect(failed).toHaveLength(1)
  expect((await queueMetrics(marketContext({ db: database.db }))).waiting).toBe(1)
})
