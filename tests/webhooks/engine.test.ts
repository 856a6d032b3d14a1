import { enqueue } from '@market/core/queue'
import { openPool } from '@market/database/connect'
import { startRunner } from '@market/jobs/runner'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { startTcpProxy } from '@market/testing/tcp-proxy'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/until.ts'
import { startWorker } from '../support/worker-process.ts'

const NOTHING = () => undefined

/** An engine whose connections, and nobody else's, lead through a proxy. */
async function startEngine(work: (breakIt: () => void) => void) {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const { hostname, port } = new URL(database.url)
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  const url = Object.assign(new URL(database.url), { port: proxy.port }).href
  const pool = openPool({ url, maxConnections: 3, onIdleError: NOTHING, plainTypes: true })
  const breakIt = () => {
    proxy.set({ reject: true })
    proxy.cut()
  }
  const runner = await startRunner({
    pool,
    ctx,
    tasks: { 'deliver-events': async () => work(breakIt) },
    concurrency: 2,
    log: { warn: NOTHING, error: NOTHING },
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
  return runner
}

test('an engine that cannot say that a job is done tells that it has given up', async () => {
  const runner = await startEngine((breakIt) => breakIt())
  await expect(runner.ended).rejects.toThrow('gave up')
})

test('an engine that is stopped ends in peace', async () => {
  const done = Promise.withResolvers<void>()
  const runner = await startEngine(() => done.resolve())
  await done.promise
  await runner.stop()
  await expect(runner.ended).resolves.toBeUndefined()
})

test('a job that fails is written down as failed, and the worker goes on', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.stop())
  const worker = await startWorker({
    DATABASE_URL: database.url,
    VAULT_KEYS: `test:${'ab'.repeat(32)}`,
    VAULT_PEPPER: 'cd'.repeat(32),
  })
  onTestFinished(() => worker.stop())
  const failed = async () => {
    const { rows } = await sql<{ last_error: string | null }>`
      select last_error from graphile_worker._private_jobs where locked_at is null`.execute(database.db)
    return rows.filter(({ last_error }) => last_error !== null).length
  }
  // Nobody has these ids, so nothing can be carried to them.
  for (const agentId of ['agt_1', 'agt_2'] as const) {
    const before = await failed()
    await enqueue(database.db, { name: 'deliver-events', payload: { agentId }, key: agentId })
    await until('it has failed', async () => (await failed()) > before)
  }
  expect(await failed()).toBe(2)
})
