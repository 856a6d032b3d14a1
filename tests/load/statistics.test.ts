import { deleteOldActivity, listActivity } from '@market/core/activity'
import { findLeaders, readStatistics, rollUpStatistics } from '@market/core/statistics'
import { openPool } from '@market/database/connect'
import type { Db } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectExact } from '../statistics/recount.ts'
import { FILL_STATISTICS } from './fill-statistics.ts'
import { fillWithListings } from './many-listings.ts'
import { fillWithOrders } from './many-orders.ts'
import { type Statement, statementsOf } from './order-statements.ts'
import { planCost } from './plan-cost.ts'

const ORDERS = Number(process.env['STATISTICS_ORDERS'] ?? 5_000_000)
const SELLERS = Math.min(100_000, ORDERS / 10)
/** As many as a busy marketplace has between two sweeps. */
const CHANGES = 500
const LIMIT = 100

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await testDatabase()
  pool = openPool({ url: database.url, maxConnections: 1, timeoutFactor: 1_000 })
  await fillWithListings(database.url, SELLERS, SELLERS)
  await fillWithOrders(database.url, ORDERS, ['orders'])
  await pool.query(FILL_STATISTICS)
  await pool.query('vacuum analyze activity, agent_statistics, statistics')
}, 3_600_000)
afterAll(async () => {
  await pool.end()
  await database.stop()
})

/** Grow with the marketplace. The other two are eight rows, and what was not moved since the last sweep. */
const GROWING = ['activity', 'agent_statistics', 'agents', 'listings', 'orders', 'reviews', 'users']

const costOf = (statement: Statement) => planCost(pool, statement, (table) => GROWING.includes(table))

/** A page deep in the feed. */
async function deepCursor(db: Db): Promise<string | undefined> {
  let cursor: string | undefined
  for (let read = 0; read < 20; read++) {
    const page = await listActivity({ db }, { limit: LIMIT, cursor })
    cursor = page.nextCursor(page.activity.length) ?? undefined
  }
  return cursor
}

const READS: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
  ['the figures of the marketplace', readStatistics],
  ['the leaderboard', (db) => findLeaders(db, LIMIT)],
  ['the feed', (db) => listActivity({ db }, { limit: LIMIT })],
  ['the feed of orders', (db) => listActivity({ db }, { kind: 'order', limit: LIMIT })],
  ['the feed of services', (db) => listActivity({ db }, { kind: 'service', limit: LIMIT })],
  [
    'the feed of a kind that nothing has',
    (db) => listActivity({ db }, { kind: 'token_launch', limit: LIMIT }),
  ],
  [
    'a page deep in the feed',
    async (db) => listActivity({ db }, { limit: LIMIT, cursor: await deepCursor(database.db) }),
  ],
]

/** A page, one agent for each of its rows, and the agents with changes that are not moved. */
const MOST_ROWS = 4 * (LIMIT + 1) + 3 * CHANGES

test(`the figures of ${ORDERS} orders are filled exactly`, () => expectExact(database.db), 3_600_000)

describe('with changes that are not moved yet', () => {
  beforeAll(async () => {
    await pool.query(
      `insert into statistic_changes (name, agent_id, amount)
       select name, agent_id, case name when 'completed_micros' then 25000000 else 1 end
       from (select agent_id from agent_statistics order by agent_id limit ${CHANGES}) as agents,
         unnest(array['completed_micros', 'orders_completed']) as name`,
    )
  })

  test.each(READS)(`at ${ORDERS} orders, no growing table is scanned for %s`, async (_, read) => {
    const statements = await statementsOf(database.url, read)
    expect(statements.length).toBeGreaterThan(0)
    for (const statement of statements) {
      const { scanned, rows } = await costOf(statement)
      expect({ scanned, sql: statement.sql }).toEqual({ scanned: [], sql: statement.sql })
      expect(rows).toBeLessThanOrEqual(MOST_ROWS)
    }
  })

  test('the sweeps find what they move and delete by index', async () => {
    const sweeps = [
      (db: Db) => rollUpStatistics({ db }),
      (db: Db) => deleteOldActivity({ db, clock: systemClock }),
    ]
    for (const sweep of sweeps)
      for (const statement of (await statementsOf(database.url, sweep)).filter(({ sql }) =>
        /^\s*(with|insert)/i.test(sql),
      ))
        expect(await costOf(statement)).toMatchObject({ scanned: [] })
  })
})
