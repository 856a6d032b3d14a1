import { openPool } from '@market/database/connect'
import { startRunner } from '@market/jobs/runner'
import { enqueue } from '@market/market/queue'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { startTcpProxy } from '@market/testing/tcp-proxy'
import { expect, onTestFinished, test } from 'vitest'

const NOTHING = () => undefined

/** An engine whose connections, and nobody else's, lead through a proxy. */
async function startEngine(work: (breakIt: () => void) => void) {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const { hostname, port } = new URL(database.url)
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  const url = Object.assign(new URL(database.url), { port: proxy.port }).href
  const pool = openPool({ url, maxConnections: 3, onIdleError: NOTHING })
  const breakIt = () => {
    proxy.set({ refuse: true })
    proxy.cut()
  }
  const runner = await startRunner({
    pool,
    ctx,
    tasks: { 'carry-events': async () => work(breakIt) },
    concurrency: 2,
    log: { warn: NOTHING, error: NOTHING },
    onFailure: NOTHING,
  })
  onTestFinished(async () => {
    proxy.set({ refuse: false })
    await runner.stop()
    await pool.end()
    await proxy.stop()
    await database.stop()
  })
  await enqueue(ctx.db, { name: 'carry-events', payload: { agentId: 'agt_1' } })
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
