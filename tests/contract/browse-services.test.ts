import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeAgent, makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid } from '../support/rejected.ts'
import { makeService, summaryOf } from '../support/services.ts'

const PATH = '/api/services'

type Made = Awaited<ReturnType<typeof makeService>>

let market: Market
/** Four public services in the order they came, each outstanding in one thing; one inactive, one hidden. */
let known: Made
let cheap: Made
let starred: Made
let young: Made
let one: Awaited<ReturnType<typeof makeOwnedAgent>>
let two: typeof one

/** What a list says of an agent. */
const listedAgent = ({ id, slug }: typeof one) => ({
  agent: { agent_id: id, slug, name: expect.any(String), avatar_url: null, verified: 1 },
  payable_on: ['base-mainnet'] as string[],
})

beforeAll(async () => {
  market = await startMarket({}, { chains: ['base-mainnet'] })
  ;[one, two] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  known = await makeService(market, one, { title: 'Logo painter of renown', category: 'image_gen' })
  cheap = await makeService(market, one, { title: 'Cheap sketches', price_usd: '0.5', turnaround_hours: 90 })
  starred = await makeService(market, two, { title: 'Starred brand identity', price_usd: '900' })
  young = await makeService(market, two, {
    title: 'Young and asking',
    price_type: 'quote',
    price_usd: undefined,
    turnaround_hours: 1,
  })
  const gone = await makeService(market, one, { title: 'Logo painter, gone' })
  await market.client().send('DELETE', `${PATH}/${gone.id}`, { bearer: one.apiKey })
  await makeService(market, await makeAgent(market), { title: 'Logo painter, hidden' })
  await become(known, { total_orders: 9, completed_orders: 9, completed_buyers: 9 })
  await become(cheap, { rating_sum: 2, rating_count: 2 })
  await become(starred, {
    total_orders: 9,
    completed_orders: 2,
    completed_buyers: 1,
    rating_sum: 50,
    rating_count: 10,
  })
})
afterAll(() => market.stop())

const become = ({ id }: Made, figures: Record<string, number>) =>
  market.db.updateTable('listings').set(figures).where('id', '=', id).execute()

const list = (query: Record<string, string> = {}) =>
  market.client().get(`${PATH}?${new URLSearchParams(query)}`)

async function names(query: Record<string, string>): Promise<string[]> {
  const { status, body } = await list(query)
  expect(status).toBe(200)
  return body.data.map(({ id }: { id: string }) => nameOf(id))
}

const nameOf = (id: string): string =>
  Object.entries({ known, cheap, starred, young }).find(([, service]) => service.id === id)?.[0] ?? 'unknown'

commonErrors({
  market: () => market,
  operation: operations.browseServices,
  good: async () => ({ path: PATH }),
})

test('200: active public services with all fields, by number of buyers, with next_cursor null at the end', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: [
      summaryOf(known, {
        ...listedAgent(one),
        title: 'Logo painter of renown',
        category: 'image_gen',
        total_orders: 9,
        completed_orders: 9,
      }),
      summaryOf(starred, {
        ...listedAgent(two),
        review_count: 10,
        title: 'Starred brand identity',
        price_usd: '900.00',
        total_orders: 9,
        completed_orders: 2,
        avg_rating: 5,
      }),
      summaryOf(young, {
        ...listedAgent(two),
        title: 'Young and asking',
        price_type: 'quote',
        price_usd: null,
        turnaround_hours: 1,
      }),
      summaryOf(cheap, {
        ...listedAgent(one),
        review_count: 2,
        title: 'Cheap sketches',
        price_usd: '0.50',
        turnaround_hours: 90,
        avg_rating: 1,
      }),
    ],
    total: 4,
    facets: null,
    next_cursor: null,
  })
})

test('200: every sort; cheapest excludes services without a price', async () => {
  expect(await names({ sort: 'popular' })).toEqual(['known', 'starred', 'young', 'cheap'])
  expect(await names({ sort: 'newest' })).toEqual(['young', 'starred', 'cheap', 'known'])
  expect(await names({ sort: 'cheapest' })).toEqual(['cheap', 'known', 'starred'])
  expect(await names({ sort: 'rating' })).toEqual(['starred', 'young', 'known', 'cheap'])
  expect((await names({ sort: 'fastest' }))[0]).toBe('young')
  expect((await names({ sort: 'fastest' })).at(-1)).toBe('cheap')
})

test('200: every filter, alone and combined, is applied before the limit', async () => {
  expect(await names({ category: 'image_gen' })).toEqual(['known'])
  expect(await names({ category: 'ugc' })).toEqual([])
  expect(await names({ agent_id: starred.agentId })).toEqual(['starred', 'young'])
  expect(await names({ price_type: 'quote' })).toEqual(['young'])
  expect(await names({ min_price: '12.5' })).toEqual(['known', 'starred'])
  expect(await names({ max_price: '12.50' })).toEqual(['known', 'cheap'])
  expect(await names({ min_price: '12.500001', max_price: '1000000', limit: '1' })).toEqual(['starred'])
  expect(await names({ agent_id: known.agentId, category: 'coding', max_price: '1' })).toEqual(['cheap'])
})

test('200: max_turnaround_hours and network, alone, with a sort and in a search', async () => {
  expect(await names({ max_turnaround_hours: '48' })).toEqual(['known', 'starred', 'young'])
  expect(await names({ max_turnaround_hours: '1', sort: 'newest' })).toEqual(['young'])
  expect(await names({ max_turnaround_hours: '48', search: 'sketches' })).toEqual([])
  expect(await names({ max_turnaround_hours: '90', search: 'sketches' })).toEqual(['cheap'])
  expect(await names({ max_turnaround_hours: '48', max_price: '20' })).toEqual(['known'])
  expect(await names({ network: 'base-mainnet' })).toEqual(['known', 'starred', 'young', 'cheap'])
  expect(await names({ network: 'base-mainnet', search: 'logos' })).toEqual(['known', 'starred'])
  // Nobody is paid there, and no chain is open there.
  expect(await names({ network: 'solana-mainnet' })).toEqual([])
  expect(await names({ network: 'alt-mainnet' })).toEqual([])
})

test('200: total counts what category, price_type and network find, and is null with another filter', async () => {
  const totalOf = async (query: Record<string, string>) =>
    (await list({ ...query, limit: '1' })).body['total']
  expect(await totalOf({})).toBe(4)
  expect(await totalOf({ sort: 'newest' })).toBe(4)
  // Without the service that has no price.
  expect(await totalOf({ sort: 'cheapest' })).toBe(3)
  expect(await totalOf({ category: 'coding' })).toBe(3)
  expect(await totalOf({ category: 'coding', price_type: 'quote' })).toBe(1)
  expect(await totalOf({ network: 'base-mainnet' })).toBe(4)
  expect(await totalOf({ network: 'alt-mainnet' })).toBe(0)
  for (const query of [
    { search: 'logo' },
    { agent_id: one.id },
    { min_price: '1' },
    { max_price: '1' },
    { max_turnaround_hours: '24' },
  ])
    expect(await totalOf(query)).toBeNull()
})

type Facets = Readonly<Record<'categories' | 'price_types' | 'networks', Record<string, number>>> & {
  readonly counted_at: string
}

test('200: facets count each value with the other filters, and what they count is what the list finds', async () => {
  const facetsOf = async (query: Record<string, string>) =>
    (await list({ ...query, facets: '1', limit: '1' })).body['facets'] as Facets
  const { categories, price_types, networks, counted_at } = await facetsOf({})
  expect(categories).toMatchObject({ coding: 3, image_gen: 1, ugc: 0 })
  expect(price_types).toEqual({ fixed: 3, quote: 1, weekly: 0, monthly: 0 })
  expect(networks['base-mainnet']).toBe(4)
  expect(counted_at).toEqual(expect.any(String))
  const narrow = await facetsOf({ category: 'image_gen' })
  expect(narrow.categories).toEqual(categories)
  expect(narrow.price_types).toMatchObject({ fixed: 1, quote: 0 })
  for (const [category, count] of Object.entries(categories))
    expect(await names({ category })).toHaveLength(count)
  for (const [network, count] of Object.entries(networks))
    expect(await names({ network })).toHaveLength(count)
})

test('200: search matches words, then synonyms, then parts of a title, and accepts a sort', async () => {
  expect(await names({ search: 'logos' })).toEqual(['known', 'starred'])
  expect(await names({ search: 'logos', sort: 'newest' })).toEqual(['starred', 'known'])
  expect(await names({ search: 'logos', category: 'coding' })).toEqual(['starred'])
  expect(await names({ search: 'ketche' })).toEqual(['cheap'])
  expect(await names({ search: "100%' OR 1=1 --" })).toEqual([])
})

test('200: returns why only for a search with explain', async () => {
  const { body } = await list({ search: 'logo', explain: '1' })
  for (const { why } of body.data) {
    const { relevance, buyers, rating, freshness, score } = why
    expect(score).toBeCloseTo(relevance + buyers + rating + freshness, 10)
  }
  expect(body.data[0].why.buyers).toBeGreaterThan(body.data[1].why.buyers)
  for (const query of [
    { search: 'logo' },
    { explain: '1' },
    { search: 'logo', explain: '1', sort: 'newest' },
  ])
    expect((await list(query)).body.data[0]).not.toHaveProperty('why')
})

test('200: pages contain each service once in every sort', async () => {
  const orders = ['popular', 'newest', 'cheapest', 'rating', 'fastest'].map((sort) => ({ sort }))
  for (const query of [...orders, { search: 'logo' }]) {
    const whole = await names(query)
    const pages: string[] = []
    let cursor: string | null | undefined
    do {
      const { body } = await list({ ...query, limit: '1', ...(cursor && { cursor }) })
      pages.push(...body.data.map(({ id }: { id: string }) => nameOf(id)))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(pages).toEqual(whole)
  }
})

test('400: an invalid filter', async () => {
  for (const [field, value] of [
    ['sort', 'cheap'],
    ['category', 'dancing'],
    ['price_type', 'yearly'],
    ['agent_id', 'nobody'],
    ['min_price', '-1'],
    ['min_price', '1e3'],
    ['max_price', '1.1234567'],
    ['max_price', '1000000000000'],
    ['max_turnaround_hours', '0'],
    ['max_turnaround_hours', '721'],
    ['network', 'base'],
    ['facets', 'maybe'],
    ['explain', 'maybe'],
    ['limit', '0'],
    ['limit', '101'],
    ['search', ''],
    ['search', 'x'.repeat(101)],
  ] as const) {
    expect((await list({ [field]: value })).body.details?.[0]?.path).toBe(field)
  }
})

test('400: a forged cursor, and a cursor of another sort', async () => {
  for (const cursor of [
    'nonsense',
    forgeCursor(['services:popular', '5', known.id]),
    forgeCursor(['services:popular', 5, "' or 1=1"]),
    forgeCursor(['services:popular', 1e300, known.id]),
    forgeCursor(['services:popular', -1, known.id]),
    forgeCursor(['services:newest', 5, known.id]),
  ])
    invalid(await list({ cursor }), 'cursor')
  invalid(
    await list({ search: 'logo', cursor: forgeCursor(['services:search', 1, known.id, 1e300]) }),
    'cursor',
  )
  const { body } = await list({ sort: 'newest', limit: '1' })
  invalid(await list({ sort: 'rating', cursor: body.next_cursor ?? '' }), 'cursor')
})
