import { openPool } from '@market/database/connect'
import { systemClock } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { browseListings } from '@market/offers/listings'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browsing, LISTS, planOf, rowsReadBy, SORTS, statementOf } from './listing-statements.ts'
import { fillWithListings } from './many-listings.ts'

const LISTINGS = 20_000

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await testDatabase()
  pool = openPool({ url: database.url, maxConnections: 1 })
  await fillWithListings(database.url, LISTINGS)
})
afterAll(async () => {
  await pool.end()
  await database.stop()
})

async function cursorAfter(browsing: Partial<Browsing>, pages: number): Promise<string> {
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const asked = { limit: 100, ...browsing, cursor }
    const { found, nextCursor } = await browseListings({ db: database.db, clock: systemClock }, asked)
    cursor = nextCursor(found.length) ?? undefined
    if (cursor === undefined) throw new Error('the list ended early')
  }
  if (cursor === undefined) throw new Error('no page was read')
  return cursor
}

test.each(LISTS)('no list reads the whole table: %s', async (_, browsing) => {
  expect(await planOf(pool, await statementOf(pool, browsing))).not.toMatch(/Seq Scan on listings/)
})

test('listings of an agent are found by the index', async () => {
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

const SEARCHES = LISTS.filter(([, { search }]) => search !== undefined)

test.each(SEARCHES)('a search reads at most a fifth of 20,000 listings: %s', async (_, browsing) => {
  expect(await rowsReadBy(pool, await statementOf(pool, browsing))).toBeLessThan(LISTINGS / 5)
})

test('a search that matches nothing reads a sample of the listings only', async () => {
  const statement = await statementOf(pool, { search: 'qqqqq zzzzz' })
  expect(await rowsReadBy(pool, statement)).toBeLessThan(500)
})

async function idsOfAllPages(browsing: Partial<Browsing>): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const asked = { limit: 70, ...browsing, cursor }
    const page = await browseListings({ db: database.db, clock: systemClock }, asked)
    ids.push(...page.found.map(({ listing }) => listing.id))
    cursor = page.nextCursor(page.found.length) ?? undefined
  } while (cursor !== undefined)
  return ids
}

const MATCHING = `
  select id from listings
  where active and marketable and search @@ websearch_to_tsquery('english', $1)
    and ($2::text is null or category = $2) and ($3::text is null or price_type = $3)
    and ($4::bigint is null or price_micros >= $4) and ($5::bigint is null or price_micros <= $5)
    and ($6::text is null or agent_id = $6) and ($7::integer is null or turnaround_hours <= $7)
  order by completed_buyers desc, id desc limit 200`

/** All matches of the words with the most buyers, by a statement without any of the bounds of a search. */
async function matchesOf(browsing: Partial<Browsing>): Promise<string[]> {
  const { search, category, priceType, minPrice, maxPrice, agentId, maxTurnaroundHours } = browsing
  const parameters = [search, category, priceType, minPrice, maxPrice, agentId, maxTurnaroundHours]
  const { rows } = await pool.query<{ id: string }>(MATCHING, parameters)
  return rows.map(({ id }) => id)
}

test.each<[string, Partial<Browsing>]>([
  ['words of every listing', { search: 'delivered with care' }],
  ['common words', { search: 'logo design' }],
  ['a rare word', { search: 'w13' }],
  ['a common word in a category', { search: 'care', category: 'coding' }],
  ['two filters', { search: 'code review', category: 'coding', priceType: 'monthly' }],
  ['a common word, two filters', { search: 'care', category: 'coding', priceType: 'monthly' }],
  ['a common word above a price', { search: 'care', priceType: 'fixed', minPrice: usdc(20_000_000n) }],
  ['a narrow turnaround', { search: 'care', maxTurnaroundHours: 3 }],
  ['narrow bounds of price', { search: 'care', minPrice: usdc(5_000_000n), maxPrice: usdc(6_000_000n) }],
])('paging through a search returns the 200 matches with the most buyers: %s', async (_, browsing) => {
  const [found, matches] = [await idsOfAllPages(browsing), await matchesOf(browsing)]
  expect(matches.length).toBeGreaterThan(0)
  expect(new Set(found).size).toBe(found.length)
  expect(matches.filter((id) => !found.includes(id))).toEqual([])
  if (matches.length === 200) expect(found).toHaveLength(200)
})

test('a search among the services of an agent returns all of its matches', async () => {
  const { rows } = await pool.query<{ id: string }>(
    'select agent_id as id from listings where active and marketable order by id limit 1',
  )
  const browsing = { search: 'care', agentId: rows[0]?.id as Browsing['agentId'] }
  const matches = await matchesOf(browsing)
  expect(matches.length).toBeGreaterThan(0)
  expect((await idsOfAllPages(browsing)).toSorted()).toEqual(matches.toSorted())
})
