import { openPool } from '@market/database/connect'
import { systemClock } from '@market/kernel/clock'
import { browseListings } from '@market/market/listings'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browsing, LISTS, planOf, SORTS, statementOf } from './listing-statements.ts'
import { fillWithListings } from './many-listings.ts'

const LISTINGS = 20_000

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await testDatabase()
  pool = openPool({ url: database.url, maxConnections: 1 })
  await fillWithListings(database.url, LISTINGS)
}, 120_000)
afterAll(async () => {
  await pool.end()
  await database.stop()
})

async function cursorAfter(browsing: Partial<Browsing>, pages: number): Promise<string> {
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const asked = { limit: 100, ...browsing, cursor }
    const { nextCursor } = await browseListings({ db: database.db, clock: systemClock }, asked)
    if (nextCursor === null) throw new Error('the list ended early')
    cursor = nextCursor
  }
  if (cursor === undefined) throw new Error('no page was read')
  return cursor
}

test.each(LISTS)('no list reads the whole table: %s', async (_, browsing) => {
  expect(await planOf(pool, await statementOf(pool, browsing))).not.toMatch(/Seq Scan on listings/)
})

test('what an agent offers is found by its index', async () => {
  const { rows } = await pool.query<{ id: string }>('select id from agents where marketable limit 1')
  const agentId = rows[0]?.id as Browsing['agentId']
  expect(await planOf(pool, await statementOf(pool, { agentId }))).not.toMatch(/Seq Scan/)
})

test.each(SORTS)('page 30 by %s is found by the index, not by skipping', async (sort) => {
  const cursor = await cursorAfter({ sort }, 30)
  const plan = await planOf(pool, await statementOf(pool, { sort, cursor }))
  expect(plan).not.toMatch(/Seq Scan|Sort/)
  expect(plan).toMatch(/Index Cond: \(ROW\(/)
})
