import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bountyOf, makeBounty, makeClaim } from '../support/bounties.ts'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid } from '../support/rejected.ts'

const PATH = '/api/bounties'
/** The bounties of `makeSeveral` have a category of their own. */
const IN = 'category=seo'

let market: Market
beforeAll(async () => {
  market = await startMarket()
  await makeSeveral()
})
afterAll(() => market.stop())

const list = (query = '') => market.client().get(`${PATH}?${query}`)
const titlesOf = async (query: string): Promise<string[]> =>
  (await list(query)).body.data.map(({ title }: { title: string }) => title)

commonErrors({
  market: () => market,
  operation: operations.listBounties,
  good: async () => ({ path: PATH }),
})

/** In the order of creation. Two have the same budget and the same deadline. */
async function makeSeveral(): Promise<void> {
  const several = [
    ['First', 5, 24],
    ['Second', 50, 6],
    ['Third', 5, 24],
    ['Fourth', '5.000001', 168],
    ['Fifth', 1, 1],
  ] as const
  for (const [title, budget_usd, deadline_hours] of several)
    await makeBounty(market, { title, budget_usd, deadline_hours, category: 'seo' })
}

const ALL = ['Fifth', 'Fourth', 'Third', 'Second', 'First']

test('200: open bounties without their references, the total and the end of the list', async () => {
  const { id, poster } = await makeBounty(market, { category: 'ugc' })
  await makeClaim(market, id)
  const { status, body } = await list('category=ugc')
  expect(status).toBe(200)
  const whole = bountyOf(id, poster.address, { category: 'ugc', pending_claims: 1 })
  const { reference_urls: _urls, reference_images: _images, ...summary } = whole
  expect(body).toEqual({
    success: true,
    data: [summary],
    next_cursor: null,
    total: 1,
  })
})

test('200: an empty list, and unknown query parameters are ignored', async () => {
  const { status, body } = await list('category=trading&colour=blue')
  expect([status, body]).toEqual([200, { success: true, data: [], next_cursor: null, total: 0 }])
})

test('200: newest first by default, by budget, and by deadline', async () => {
  expect(await titlesOf(IN)).toEqual(ALL)
  expect(await titlesOf(`${IN}&sort=newest`)).toEqual(ALL)
  // Equal budgets are sorted by age, the newest first; equal deadlines the other way round.
  expect(await titlesOf(`${IN}&sort=budget_desc`)).toEqual(['Second', 'Fourth', 'Third', 'First', 'Fifth'])
  expect(await titlesOf(`${IN}&sort=deadline_asc`)).toEqual(['Fifth', 'Second', 'First', 'Third', 'Fourth'])
})

test('200: the pages of each sort have every bounty once, and the total does not depend on the page', async () => {
  for (const sort of ['newest', 'budget_desc', 'deadline_asc'])
    for (const limit of [1, 2, 4]) {
      const whole = await titlesOf(`${IN}&sort=${sort}`)
      const found: string[] = []
      let cursor = ''
      for (let page = 0; page === 0 || cursor !== ''; page++) {
        const { body } = await list(`${IN}&sort=${sort}&limit=${limit}${cursor}`)
        expect(body['total']).toBe(5)
        expect(body.data.length).toBeLessThanOrEqual(limit)
        found.push(...body.data.map(({ title }: { title: string }) => title))
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
      }
      expect(found).toEqual(whole)
    }
})

test('200: a limit of 1 and of 100', async () => {
  expect(await titlesOf(`${IN}&limit=1`)).toEqual(['Fifth'])
  expect(await titlesOf(`${IN}&limit=100`)).toEqual(ALL)
})

test('200: min_budget and max_budget include their bounds, before the limit', async () => {
  expect(await titlesOf(`${IN}&min_budget=5`)).toEqual(['Fourth', 'Third', 'Second', 'First'])
  expect(await titlesOf(`${IN}&min_budget=5.000001`)).toEqual(['Fourth', 'Second'])
  expect(await titlesOf(`${IN}&max_budget=5`)).toEqual(['Fifth', 'Third', 'First'])
  expect(await titlesOf(`${IN}&max_budget=4.999999`)).toEqual(['Fifth'])
  expect(await titlesOf(`${IN}&min_budget=5&max_budget=5.00`)).toEqual(['Third', 'First'])
  expect(await titlesOf(`${IN}&min_budget=6&max_budget=5`)).toEqual([])
  const page = await list(`${IN}&max_budget=5&limit=1`)
  expect(page.body).toMatchObject({ data: [{ title: 'Fifth' }], total: 3 })
})

test('200: by status', async () => {
  const made = await makeBounty(market, { category: 'analytics' })
  const cancelled = await makeBounty(market, { category: 'analytics' })
  await market.client().patch(
    `${PATH}/${cancelled.id}`,
    { status: 'cancelled' },
    {
      headers: await cancelled.sign(`bounties.cancel:${cancelled.id}`),
    },
  )
  const idsOf = async (query: string) =>
    (await list(`category=analytics&${query}`)).body.data.map(
      ({ bounty_id }: { bounty_id: string }) => bounty_id,
    )
  expect(await idsOf('')).toEqual([made.id])
  expect(await idsOf('status=open')).toEqual([made.id])
  expect(await idsOf('status=cancelled')).toEqual([cancelled.id])
  for (const status of ['claimed', 'completed', 'expired'])
    expect(await idsOf(`status=${status}`)).toEqual([])
})

test('200: search finds words of title, brief and category, also inflected', async () => {
  const fields = { title: 'Translating a manual', brief: 'From Dutch into Portuguese, 40 pages.' }
  const { id } = await makeBounty(market, { ...fields, category: 'brand_content' })
  const found = async (search: string) =>
    (await list(`search=${encodeURIComponent(search)}`)).body.data.map(
      ({ bounty_id }: { bounty_id: string }) => bounty_id,
    )
  for (const search of ['translate', 'portuguese manual', '"40 pages"', 'brand content'])
    expect(await found(search)).toEqual([id])
  for (const search of ['translating -manual', 'unheardof']) expect(await found(search)).toEqual([])
})

test('200: -word excludes bounties that have the word in title or brief, also inflected', async () => {
  const make = async (title: string, brief: string) => (await makeBounty(market, { title, brief })).id
  const plain = await make('Zeppelin ride', 'One ride above the lake at noon.')
  const inTitle = await make('Zeppelin posters', 'Printed on thick paper, please.')
  const inBrief = await make('Zeppelin prints', 'Several posters on thick paper.')
  const found = async (search: string) =>
    (await list(`search=${encodeURIComponent(search)}`)).body.data.map(
      ({ bounty_id }: { bounty_id: string }) => bounty_id,
    )
  expect(await found('zeppelin')).toEqual([inBrief, inTitle, plain])
  for (const search of ['zeppelin -posters', 'zeppelin -poster', '-posters zeppelins'])
    expect(await found(search)).toEqual([plain])
  expect(await found('zeppelin -"several posters"')).toEqual([inTitle, plain])
  expect(await found('zeppelin -rides -printed')).toEqual([])
  const narrow = `search=${encodeURIComponent('zeppelin -posters')}&min_budget=1&sort=budget_desc`
  expect((await list(narrow)).body).toMatchObject({ data: [{ bounty_id: plain }], total: 1 })
})

test('200: the total counts at most 1,000', async () => {
  const { id } = await makeBounty(market, { category: 'automation' })
  const copied = sql`poster, client_wallet, client_proven_by, title, brief, category, budget_micros, deadline_hours,
    claim_window_hours, reference_urls, reference_images, status, created_at, updated_at, expires_at`
  await sql`
    insert into bounties (id, ${copied})
    select 'bnty_1700000000000_' || lpad(n::text, 17, '0'), ${copied}
    from bounties, generate_series(1, 1001) as n where id = ${id}`.execute(market.db)
  const { body } = await list('category=automation&limit=1')
  expect(body['total']).toBe(1_000)
})

test('400: a limit, sort, filter or cursor that is not valid', async () => {
  for (const limit of ['0', '101', '-1', '1.5', 'all', '']) invalid(await list(`limit=${limit}`), 'limit')
  for (const sort of ['oldest', 'budget_asc', '']) invalid(await list(`sort=${sort}`), 'sort')
  for (const status of ['pending', 'OPEN', '']) invalid(await list(`status=${status}`), 'status')
  invalid(await list('category=cooking'), 'category')
  for (const field of ['min_budget', 'max_budget'])
    for (const amount of ['-1', '1.0000001', 'much', '1e3']) invalid(await list(`${field}=${amount}`), field)
  invalid(await list('search='), 'search')
  invalid(await list(`search=${'x'.repeat(101)}`), 'search')
  for (const cursor of [
    'x',
    forgeCursor(['bounties:newest', 'now', 'bnty_1_0']),
    forgeCursor(['orders', 1, 'a']),
  ])
    invalid(await list(`cursor=${cursor}`), 'cursor')
})

test('400: the cursor of another sort', async () => {
  const sorts = ['newest', 'budget_desc', 'deadline_asc']
  for (const sort of sorts) {
    const { next_cursor } = (await list(`${IN}&limit=1&sort=${sort}`)).body
    for (const other of sorts.filter((one) => one !== sort))
      invalid(await list(`${IN}&sort=${other}&cursor=${next_cursor}`), 'cursor')
  }
})

test('200: the signature of a wallet is ignored, also a wrong one', async () => {
  const headers = {
    'x-market-wallet': evmSigner().address,
    'x-market-wallet-sig': '0x00',
    'x-market-wallet-sig-ts': '1',
  }
  expect((await market.client().get(PATH, { headers })).status).toBe(200)
})
