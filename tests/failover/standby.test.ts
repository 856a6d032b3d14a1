import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Market, runBundled, startMarket } from '../support/market.ts'
import { type PostgresCluster, startPostgresCluster } from '../support/postgres-cluster.ts'
import { startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'

let cluster: PostgresCluster
let market: Market
beforeAll(async () => {
  cluster = await startPostgresCluster()
  market = await startMarket({}, { database: cluster.database, run: runBundled })
})
afterAll(() => market?.stop())

const statusOf = async (url: string) => (await fetch(`${url}/readyz`)).status
const register = (name: string, key: string) =>
  market.client().post('/api/agents/register', { name, description: DESCRIPTION }, { key })

test('standby: while the address points to a standby, no program is ready, writes are 503 and nothing is lost', async () => {
  const worker = await market.startWorker()
  const [name, key] = [someName(), randomUUID()]
  expect((await register(someName(), randomUUID())).status).toBe(201)

  cluster.pointTo('standby')
  await until('the api is not ready', async () => (await statusOf(market.url)) === 503)
  const { status, body, headers } = await register(name, key)
  expect([status, body.code]).toEqual([503, 'unavailable'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await fetch(`${market.url}/api/services`)).status).toBe(200)
  await until('the worker is not ready', async () => (await statusOf(worker.url).catch(() => 503)) === 503)
  const another = await startApi(market.environment)
  expect(await statusOf(another.url)).toBe(503)
  await another.stop()

  cluster.pointTo('primary')
  await until('the api is ready again', async () => (await statusOf(market.url)) === 200)
  expect((await register(name, key)).status).toBe(201)
  const stored = await market.db.selectFrom('agents').select('id').where('name', '=', name).execute()
  expect(stored).toHaveLength(1)
})
