import { openPool } from '@market/database/connect'
import { totals } from '@market/money/ledger'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillWithListings } from './many-listings.ts'
import { fillWithOrders } from './many-orders.ts'
import { openAppServices } from './order-app.ts'
import { bare, type Market, ours, withScripts } from './order-pace.ts'
import { statementsOf } from './order-statements.ts'
import { sweep, wholeTables } from './order-sweeps.ts'

/** The benches of orders in short: `npm run bench -- orders growth` measure, this sees that they can. */
const ORDERS = 5_000
const LISTINGS = 200
const PAIRS = 4
const COURSE = { seconds: 2, connections: 4 }

let database: TestDatabase
let market: Market
beforeAll(async () => {
  database = await testDatabase({ maxConnections: COURSE.connections })
  await fillWithListings(database.url, LISTINGS)
  const app = openAppServices(database.db)
  await app.ready()
  market = { ...database, app, pairs: await app.makePairs(PAIRS) }
  await fillWithOrders(database.url, ORDERS)
})
afterAll(async () => {
  await market?.app.stop()
  await database.stop()
})

test('whole orders run at a minimum share of the speed of their SQL alone, and no transaction fails', async () => {
  await withScripts(market, async (scripts) => {
    await ours(market, COURSE)
    const pgbench = await bare(market, scripts, COURSE)
    const { perSecond } = await ours(market, COURSE)
    expect(perSecond / pgbench.perSecond).toBeGreaterThan(0.1)
  })
  expect((await totals(database.db, 'base-mainnet')).imbalance).toBe(0n)
})

test('no statement of an order scans a whole orders or ledger table', async () => {
  const [pair] = market.pairs
  if (pair === undefined) throw new Error('nobody buys')
  const statements = await statementsOf(database.url, (db) => market.app.live(pair, db))
  const pool = openPool({ url: database.url, maxConnections: 1 })
  try {
    for (const { sql, parameters } of statements.filter((one) => one.parameters.length > 0)) {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...parameters])
      expect(wholeTables(rows.map((row) => row['QUERY PLAN']).join('\n')), sql).toEqual([])
    }
  } finally {
    await pool.end()
  }
})

test('sweeps and lists find their orders by index', async () => {
  for (const swept of await sweep(database.url)) expect(swept).toMatchObject({ wholeTables: [] })
})
