import type { AgentId } from '@market/kernel/ids'
import { browseListings } from '@market/offers/listings'
import { makeListing } from '@market/testing/make-listing'
import { makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CORPUS, QUERIES } from './listing-corpus.ts'

const TOP = 5
const WANTED = 45

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
  const { agent } = await makeListedAgent(ctx)
  for (const listing of CORPUS) await makeListing(ctx, agent.id as AgentId, listing)
})
afterAll(() => stop())

const topOf = async (search: string) =>
  (await browseListings(ctx, { search, limit: TOP })).found.map(({ listing }) => listing.title)

test('corpus: more than 100 listings in all 12 categories, and 50 queries that each have an expected listing', () => {
  expect(CORPUS.length).toBeGreaterThan(100)
  expect(new Set(CORPUS.map(({ category }) => category)).size).toBe(12)
  expect(QUERIES).toHaveLength(50)
  const titles = CORPUS.map(({ title }) => title)
  const unmet = QUERIES.flatMap(([, ...expected]) => expected).filter(
    (beginning) => !titles.some((title) => title.startsWith(beginning)),
  )
  expect(unmet).toEqual([])
})

test(`at least ${WANTED} of 50 queries have an expected listing among the first ${TOP}`, async () => {
  const missed: { query: string; top: string[] }[] = []
  for (const [query, ...expected] of QUERIES) {
    const top = await topOf(query)
    if (!top.some((title) => expected.some((beginning) => title.startsWith(beginning))))
      missed.push({ query, top })
  }
  expect(missed.length <= QUERIES.length - WANTED ? [] : missed).toEqual([])
})
