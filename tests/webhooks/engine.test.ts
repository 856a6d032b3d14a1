import { enqueue } from '@market/core/queue'
import { openPool } from '@market/database/connect'
import { startRunner } from '@market/jobs/runner'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { startTcpProxy } from '@market/testing/tcp-proxy'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { throughProxy } from '../support/parts.ts'
import { startWorker } from '../support/processes.ts'
import { until } from '../support/until.ts'

const NOTHING = () => undefined

/** Starts a job runner whose connections go through a proxy; those of the test do not. */
async function startProxiedRunner(work: (cutConnections: () => void) => void) {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const { hostname, port } = new URL(database.url)
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  const url = throughProxy(database.url, proxy.port)
  const pool = openPool({ url, maxConnections: 3, onIdleError: NOTHING, plainTypes: true })
  const warnings: string[] = []
  const cutConnections = () => {
    proxy.set({ reject: true })
    proxy.cut()
  }
  const runner = await startRunner({
    pool,
    ctx,
    engines: [{ tasks: { 'deliver-events': async () => work(cutConnections) }, concurrency: 2, pollMs: 250 }],
    log: { warn: (_, message) => void warnings.push(message), error: NOTHING },
    onFailure: NOTHING,
  })
  onTestFinished(async () => {
    proxy.set({ reject: false })
    await runner.stop()
    await pool.end()
    await proxy.stop()
    await database.stop()
  })
  await enqueue(ctx.db, { name: 'deliver-events', payload: { agentId: 'agt_1' } })
  return { ...runner, ctx, warnings, allowConnections: () => proxy.set({ reject: false }) }
}

test('runner: starts again after Postgres was away while a job ended, and runs that job and later ones', async () => {
  let runs = 0
  const { ctx, warnings, allowConnections } = await startProxiedRunner((cutConnections) => {
    runs++
    if (runs === 1) cutConnections()
  })
  // Connections that are allowed earlier could still record the end of the first run.
  await until('graphile-worker shut down', () =>
    warnings.some((message) => message.startsWith('graphile-worker shut down by itself')),
  )
  expect(runs).toBe(1)
  allowConnections()
  await until('the job ran again, because its end was not recorded', () => runs >= 2, { withinMs: 60_000 })
  const before = runs
  await enqueue(ctx.db, { name: 'deliver-events', payload: { agentId: 'agt_2' } })
  await until('a later job ran', () => runs > before, { withinMs: 60_000 })
})

test('runner: `ended` resolves after stop', async () => {
  const done = Promise.withResolvers<void>()
  const runner = await startProxiedRunner(() => done.resolve())
  await done.promise
  await runner.stop()
  await expect(runner.ended).resolves.toBeUndefined()
})

test('worker: records a failed job and runs the next one', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.stop())
  const worker = await startWorker({
    DATABASE_URL: database.url,
    ...newKeySettings().both,
  })
  onTestFinished(() => worker.stop())
  const failed = async () => {
    const { rows } = await sql<{ last_error: string | null }>`
      select last_error from graphile_worker._private_jobs where locked_at is null`.execute(database.db)
    return rows.filter(({ last_error }) => last_error !== null).length
  }
  // No agent has these ids, so the jobs fail.
  for (const agentId of ['agt_1', 'agt_2'] as const) {
    const before = await failed()
    await enqueue(database.db, { name: 'deliver-events', payload: { agentId }, key: agentId })
    await until('it has failed', async () => (await failed()) > before)
  }
  expect(await failed()).toBe(2)
})
