import { DAY } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { agentActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeAgent, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browseListings } from './browse-listings.ts'
import { deactivateListing } from './deactivate-listing.ts'
import type { Listing, ListingSummary } from './listing.ts'

type Browsing = Parameters<typeof browseListings>[1]

const HOW_MANY = 43
const SORTS = ['popular', 'newest', 'cheapest', 'rating', 'fastest'] as const

let ctx: MarketContext
let stop: () => Promise<void>
let agents: AgentId[]
const all: Listing[] = []

beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
  agents = [(await makeListedAgent(ctx)).agent.id, (await makeListedAgent(ctx)).agent.id]
  const { agent: hidden } = await makeAgent(ctx)
  for (let n = 0; n < HOW_MANY; n++) {
    if (n % 3 === 0) ctx.clock.advance(1)
    const said = {
      category: n % 4 === 0 ? 'coding' : 'ugc',
      priceType: n % 5 === 0 ? ('quote' as const) : ('fixed' as const),
      price: n % 10 === 0 ? null : usdc(BigInt(1 + (n % 6)) * 1_000_000n),
      turnaroundHours: 1 + (n % 4),
    }
    const listing = await makeListing(ctx, agents[n % 2] as AgentId, said)
    // Few different figures, so that many listings tie and only the id parts them.
    const figures = {
      total_orders: 9,
      completed_orders: 9,
      completed_buyers: n % 3,
      rating_sum: (n % 5) * 7,
      rating_count: (n % 4) * 2,
    }
    await ctx.db.updateTable('listings').set(figures).where('id', '=', listing.id).execute()
    all.push({
      ...listing,
      completedBuyers: figures.completed_buyers,
      ratingSum: figures.rating_sum,
      ratingCount: figures.rating_count,
    })
    await makeListing(ctx, hidden.id, said)
    const gone = await makeListing(ctx, agents[0] as AgentId, said)
    await deactivateListing(ctx, gone.id, agentActor(gone.agentId))
  }
})
afterAll(() => stop())

/** Reads page after page to the end. */
async function readAll(browsing: Browsing): Promise<ListingSummary[]> {
  const listings: ListingSummary[] = []
  let cursor: string | undefined
  do {
    const page = await browseListings(ctx, { ...browsing, cursor })
    expect(page.found.length).toBeLessThanOrEqual(browsing.limit)
    listings.push(...page.found.map(({ listing }) => listing))
    cursor = page.nextCursor(page.found.length) ?? undefined
  } while (cursor !== undefined)
  return listings
}

const idsOf = (listings: readonly Pick<Listing, 'id'>[]) => listings.map(({ id }) => id).sort()

const RANKS: Readonly<Record<(typeof SORTS)[number], (listing: ListingSummary) => number>> = {
  popular: (listing) => -listing.completedBuyers,
  newest: (listing) => -listing.createdAt.getTime(),
  cheapest: (listing) => Number(listing.price),
  rating: (listing) => -(listing.ratingSum + 20) / (listing.ratingCount + 5),
  fastest: (listing) => listing.turnaroundHours,
}

describe.each(SORTS)('by %s', (sort) => {
  const shown = () => (sort === 'cheapest' ? all.filter(({ price }) => price !== null) : all)

  test.each([1, 7, HOW_MANY, 100])(
    'pages of %i contain every listing exactly once, in order',
    async (limit) => {
      const listings = await readAll({ sort, limit })
      expect(idsOf(listings)).toEqual(idsOf(shown()))
      const ranks = listings.map(RANKS[sort])
      expect(ranks).toEqual([...ranks].sort((a, b) => a - b))
    },
  )

  test('a search can be sorted in this order', async () => {
    const listings = await readAll({ sort, search: 'portraits', limit: 10 })
    expect(idsOf(listings)).toEqual(idsOf(shown()))
    const ranks = listings.map(RANKS[sort])
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b))
    expect(await readAll({ sort, search: 'submarine', limit: 10 })).toEqual([])
  })

  test('rejects a cursor of another sort order', async () => {
    const { nextCursor } = await browseListings(ctx, { sort, limit: 1 })
    const search = await browseListings(ctx, { search: 'portrait', limit: 1 })
    for (const other of SORTS.filter((name) => name !== sort)) {
      const asked = { sort: other, limit: 1, cursor: nextCursor(1) ?? '' }
      await expect(browseListings(ctx, asked)).rejects.toMatchObject({ kind: 'invalid' })
    }
    const ranked = { sort, limit: 1, cursor: search.nextCursor(1) ?? '' }
    await expect(browseListings(ctx, ranked)).rejects.toMatchObject({ kind: 'invalid' })
    const unranked = { search: 'portrait', limit: 1, cursor: nextCursor(1) ?? '' }
    await expect(browseListings(ctx, unranked)).rejects.toMatchObject({ kind: 'invalid' })
  })
})

const FILTERS: readonly (readonly [string, () => Partial<Browsing>, (listing: Listing) => boolean])[] = [
  ['category', () => ({ category: 'coding' }), ({ category }) => category === 'coding'],
  ['agent', () => ({ agentId: agents[1] }), ({ agentId }) => agentId === agents[1]],
  ['price type', () => ({ priceType: 'quote' }), ({ priceType }) => priceType === 'quote'],
  [
    'least price',
    () => ({ minPrice: usdc(4_000_000n) }),
    ({ price }) => price !== null && price >= 4_000_000n,
  ],
  [
    'most price',
    () => ({ maxPrice: usdc(3_000_000n) }),
    ({ price }) => price !== null && price <= 3_000_000n,
  ],
  [
    'all at once',
    () => ({ category: 'ugc', agentId: agents[1], priceType: 'fixed', minPrice: usdc(2_000_000n) }),
    ({ category, agentId, priceType, price }) =>
      category === 'ugc' && agentId === agents[1] && priceType === 'fixed' && Number(price) >= 2_000_000,
  ],
]

describe.each(FILTERS)('filtered by %s', (_, filter, holds) => {
  test.each([undefined, 'portrait'])(
    'is applied before the limit, browsing and searching %s',
    async (search) => {
      const expected = all.filter(holds)
      expect(expected.length).toBeGreaterThan(3)
      expect(idsOf(await readAll({ ...filter(), search, limit: 3 }))).toEqual(idsOf(expected))
    },
  )
})

describe('a search', () => {
  test.each([1, 7, 100])(
    'pages of %i contain every match once, best first, while time passes',
    async (limit) => {
      const scores: number[] = []
      const ids: string[] = []
      let cursor: string | undefined
      do {
        const page = await browseListings(ctx, { search: 'portrait', limit, cursor })
        for (const { listing, why } of page.found) {
          ids.push(listing.id)
          scores.push(why?.score ?? Number.NaN)
        }
        cursor = page.nextCursor(page.found.length) ?? undefined
        ctx.clock.advance(DAY)
      } while (cursor !== undefined)
      expect(ids.sort()).toEqual(idsOf(all))
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
    },
  )

  test('explain: the parts sum to the score, and buyers, rating and age raise it', async () => {
    const agentId = agents[0] as AgentId
    const title = 'Submarine periscopes'
    const old = await makeListing(ctx, agentId, { title })
    const known = await makeListing(ctx, agentId, { title })
    ctx.clock.advance(60 * DAY)
    const young = await makeListing(ctx, agentId, { title })
    const figures = {
      total_orders: 9,
      completed_orders: 9,
      completed_buyers: 9,
      rating_sum: 25,
      rating_count: 5,
    }
    await ctx.db.updateTable('listings').set(figures).where('id', '=', known.id).execute()
    const { found } = await browseListings(ctx, { search: 'submarine', limit: 10 })
    expect(found.map(({ listing }) => listing.id)).toEqual([known.id, young.id, old.id])
    for (const { why } of found) {
      const { relevance = 0, buyers = 0, rating = 0, freshness = 0, score } = why ?? {}
      expect(relevance).toBeGreaterThan(1)
      expect(score).toBeCloseTo(relevance + buyers + rating + freshness, 10)
    }
    const [first, second, third] = found.map(({ why }) => why)
    expect(first?.buyers).toBeGreaterThan(second?.buyers ?? 1)
    expect(first?.rating).toBeGreaterThan(second?.rating ?? 1)
    expect(second?.freshness).toBeGreaterThan(third?.freshness ?? 1)
  })

  test('matches other forms of a word, then synonyms, then parts of a title', async () => {
    const agentId = agents[0] as AgentId
    const branding = await makeListing(ctx, agentId, { title: 'Branding from nothing' })
    const logo = await makeListing(ctx, agentId, { title: 'Logos from nothing' })
    const titles = async (search: string) =>
      (await browseListings(ctx, { search, limit: 2 })).found.map(({ listing }) => listing.id)
    expect(await titles('logo')).toEqual([logo.id, branding.id])
    expect(await titles('brand identity')).toContain(branding.id)
    expect(await titles('randin')).toEqual([branding.id])
  })

  test('quotes and a minus are literal characters', async () => {
    const agentId = agents[0] as AgentId
    const one = await makeListing(ctx, agentId, { title: 'Zeppelin drawn with a red hull' })
    const two = await makeListing(ctx, agentId, { title: 'Zeppelin drawn with a hull painted red' })
    const ids = async (search: string) =>
      idsOf((await browseListings(ctx, { search, limit: 9 })).found.map(({ listing }) => listing))
    expect(await ids('zeppelin red hull')).toEqual(idsOf([one, two]))
    expect(await ids('"red hull"')).toEqual([one.id])
    expect(await ids('zeppelin -painted')).toEqual([one.id])
  })

  test.each(["100%' OR 1=1 --", '!!!', '&', '<->', ':*', '\\', '%', '"', '-', 'the', '(', "'"])(
    'for %s is a search like any other',
    async (search) => {
      await browseListings(ctx, { search, limit: 5 })
      await browseListings(ctx, { search, sort: 'newest', limit: 5 })
    },
  )
})
