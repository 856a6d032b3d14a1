import { openPool } from '@market/database/connect'
import type { Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import { expireBounties, hasOpenBounties, hasOpenBountyOfWallet } from '@market/offers/bounties'
import { testClock } from '@market/testing/clock'
import { marketContext } from '@market/testing/market-context'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { costOf, cursorAfter, FILTERS, list, READS, SORTS } from './bounty-reads.ts'
import { BUSY, fillWithBounties, OLDEST } from './many-bounties.ts'
import { statementsOf } from './order-statements.ts'
import { planCost } from './plan-cost.ts'

const BOUNTIES = Number(process.env['BOUNTIES'] ?? 1_000_000)
const TABLES = ['bounties', 'bounty_claims']
/** A sample, two lookups, the rows in order for a page and for the total, and the last of them. */
const MOST_ROWS = 500 + 2 * 3_000 + 3 * 5_000 + 1_000

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await testDatabase({ maxConnections: 1 })
  pool = openPool({ url: database.url, maxConnections: 1, timeoutFactor: 1_000 })
  await fillWithBounties(database.url, BOUNTIES)
}, 3_600_000)
afterAll(async () => {
  await pool.end()
  await database.stop()
})

/** Neither the plan of a statement nor the counters of the tables show a read of a whole table or of many rows. */
async function expectBounded(read: (db: TestDatabase['db']) => Promise<unknown>, mostRows = MOST_ROWS) {
  for (const statement of await statementsOf(database.url, read)) {
    const { scanned } = await planCost(pool, statement, (table) => TABLES.includes(table))
    expect(scanned, statement.sql).toEqual([])
  }
  const { scans, rows } = await costOf(database.db, () => read(database.db))
  expect(scans).toBe(0)
  expect(rows).toBeLessThanOrEqual(mostRows)
}

describe.each(SORTS)(`listBounties of ${BOUNTIES}, %s`, (sort) => {
  test.each(FILTERS)('reads a limited number of rows: %s', async (_, filter) => {
    await expectBounded((db) => list(db, { sort, ...filter }))
  })

  test.each(FILTERS)('page 5 reads a limited number of rows: %s', async (_, filter) => {
    const cursor = await cursorAfter(database.db, { sort, ...filter }, 4)
    await expectBounded((db) => list(db, { sort, ...filter, cursor }))
  })

  test('page 30 without a filter is found by the index', async () => {
    const cursor = await cursorAfter(database.db, { sort }, 29)
    await expectBounded((db) => list(db, { sort, cursor }), 21 + 1_000)
  })
})

const ORDERS = {
  newest: 'created_at desc, id desc',
  budget_desc: 'budget_micros desc, id desc',
  deadline_asc: 'deadline_hours, id',
} as const

/** The first matches by a statement without any limit of a search. */
async function matchesOf(sort: keyof typeof ORDERS, filter: (typeof FILTERS)[number][1]): Promise<string[]> {
  const { status = 'open', category, minBudget, maxBudget, search } = filter
  const { rows } = await pool.query<{ id: string }>(
    `select id from bounties where status = $1 and ($2::text is null or category = $2)
      and ($3::bigint is null or budget_micros >= $3) and ($4::bigint is null or budget_micros <= $4)
      and ($5::text is null or search @@ (websearch_to_tsquery('english', $5) || websearch_to_tsquery('simple', $5)))
    order by ${ORDERS[sort]} limit 250`,
    [status, category, minBudget, maxBudget, search],
  )
  return rows.map(({ id }) => id)
}

test.each(SORTS.flatMap((sort) => FILTERS.map(([name, filter]) => [sort, name, filter] as const)))(
  'paging by %s returns every match once and in order: %s',
  async (sort, _, filter) => {
    const wanted = await matchesOf(sort, filter)
    const found: string[] = []
    let cursor: string | undefined
    let total = 0
    do {
      const page = await list(database.db, { sort, ...filter, limit: 90, cursor })
      found.push(...page.bounties.map(({ id }) => id))
      total = page.total
      cursor = page.nextCursor(page.bounties.length) ?? undefined
    } while (cursor !== undefined && found.length < wanted.length)
    expect(found.slice(0, wanted.length)).toEqual(wanted)
    if (wanted.length < 250) expect(total).toBe(wanted.length)
    else expect(total).toBeGreaterThanOrEqual(250)
  },
)

test('total is 1,000 when more match, also when only the oldest do', async () => {
  for (const filter of [{}, { search: 'care' }, { search: OLDEST.word }])
    expect((await list(database.db, filter)).total).toBe(1_000)
})

test.each(READS)('%s: reads a limited number of rows', async (_, read) => {
  await expectBounded(read, 20 * 3_500)
})

test('whether a wallet or a user has an open bounty is found in one row', async () => {
  await expectBounded((db) => hasOpenBountyOfWallet(db, BUSY.wallet, usdc(1_000_000_000n)), 1)
  // Each of the wallet's open bounties costs more.
  await expectBounded((db) => hasOpenBountyOfWallet(db, BUSY.wallet, usdc(1_099_999n)), 1)
  await expectBounded((db) => hasOpenBounties(db as Tx, [`user:${BUSY.userId}`]), 1)
})

test('the sweep reads what is due, and not more than ten batches of each', async () => {
  const clock = testClock(new Date('2026-01-01T12:00:00Z'))
  const due = { ...marketContext({ db: database.db, clock }) }
  const claims = await costOf(database.db, () => expireBounties(due))
  expect(claims.scans).toBe(0)
  expect(claims.rows).toBeLessThan(10 * 100 * 10)
  clock.set(new Date('2026-02-01T00:00:00Z'))
  const both = await costOf(database.db, () => expireBounties(due))
  expect(both.scans).toBe(0)
  expect(both.rows).toBeLessThan(10 * 200 * 10)
})
