import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { invalid } from '../support/rejected.ts'
import { makeService, summaryOf } from '../support/services.ts'
import { BASE_URL } from '../support/settings.ts'

const PATH = '/api/x402/services'

type Made = Awaited<ReturnType<typeof makeService>>

let world: OrderWorld
let market: Market
/** Three that can be bought on the one network that is open; and one of each kind that cannot. */
let known: Made
let cheap: Made
let young: Made
beforeAll(async () => {
  world = await startOrderWorld()
  market = world.market
  const seller = await makeOwnedAgent(market)
  known = await makeService(market, seller, { title: 'Logo painter of renown', category: 'image_gen' })
  cheap = await makeService(market, seller, { title: 'Cheap sketches', price_usd: '0.333333' })
  young = await makeService(market, await makeOwnedAgent(market), { title: 'Young brand identity' })
  await market.db
    .updateTable('listings')
    .set({ total_orders: 9, completed_orders: 9, completed_buyers: 9 })
    .where('id', '=', known.id)
    .execute()
  await makeService(market, seller, { title: 'Logo by quote', price_type: 'quote', price_usd: undefined })
  await makeService(market, seller, { title: 'Logo by the week', price_type: 'weekly', quota_limit: 3 })
  await makeService(market, await makeAgent(market), { title: 'Logo painter, hidden' })
  const gone = await makeService(market, seller, { title: 'Logo painter, gone' })
  await market.client().send('DELETE', `/api/services/${gone.id}`, { bearer: seller.apiKey })
  const unpaid = await makeAgent(market)
  const { token } = await makeUser(market)
  await market.client().post('/api/agents/link', { api_key: unpaid.apiKey }, { bearer: token })
  await makeService(market, unpaid, { title: 'Logo painter without an address on Base' })
})
afterAll(() => world.stop())

const list = (query: Record<string, string> = {}) =>
  market.client().get(`${PATH}?${new URLSearchParams(query)}`)

const titles = async (query: Record<string, string>): Promise<string[]> => {
  const { status, body } = await list(query)
  expect(status).toBe(200)
  return body.data.map(({ title }: { title: string }) => title)
}

commonErrors({
  market: () => market,
  operation: operations.listPayableServices,
  good: async () => ({ path: PATH }),
})

test('200: services with a fixed price of agents with a payout address, with the x402 price', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  const payable = ({ id }: Made, usd: string, amount: string) => ({
    x402_price_usd: usd,
    amount,
    networks: ['base-mainnet'],
    resource: `${BASE_URL}/api/x402/discover/${id}`,
    pay_url: `${BASE_URL}/api/x402/pay?service_id=${id}`,
  })
  expect(body).toEqual({
    success: true,
    data: [
      {
        ...summaryOf(known, {
          title: 'Logo painter of renown',
          category: 'image_gen',
          total_orders: 9,
          completed_orders: 9,
        }),
        ...payable(known, '13.75', '13750000'),
      },
      { ...summaryOf(young, { title: 'Young brand identity' }), ...payable(young, '13.75', '13750000') },
      {
        ...summaryOf(cheap, { title: 'Cheap sketches', price_usd: '0.333333' }),
        // 366666.3 of a micro is rounded up.
        ...payable(cheap, '0.366667', '366667'),
      },
    ],
    next_cursor: null,
  })
})

test('200: filters by category, search and chain; a chain that is not enabled has no services', async () => {
  expect(await titles({ category: 'image_gen' })).toEqual(['Logo painter of renown'])
  expect(await titles({ category: 'ugc' })).toEqual([])
  expect(await titles({ search: 'logo' })).toEqual(['Logo painter of renown', 'Young brand identity'])
  expect(await titles({ search: 'ketche' })).toEqual(['Cheap sketches'])
  expect(await titles({ search: 'logo', category: 'coding' })).toEqual(['Young brand identity'])
  expect(await titles({ search: "100%' OR 1=1 --" })).toEqual([])
  expect(await titles({ chain: 'base' })).toHaveLength(3)
  expect(await titles({ chain: 'solana' })).toEqual([])
  expect(await titles({ chain: 'alt' })).toEqual([])
})

test('200: pages contain each service once, with and without search', async () => {
  for (const query of [{}, { search: 'logo' }]) {
    const whole = await titles({ ...query, limit: '200' })
    const pages: string[] = []
    let cursor: string | null | undefined
    do {
      const { body } = await list({ ...query, limit: '1', ...(cursor && { cursor }) })
      pages.push(...body.data.map(({ title }: { title: string }) => title))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(pages).toEqual(whole)
  }
})

test('200: includes the services of an agent once it has a payout address', async () => {
  const agent = await makeAgent(market)
  const { token } = await makeUser(market)
  await market.client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: token })
  await makeService(market, agent, { title: 'Dancing lessons by mail', category: 'custom' })
  expect(await titles({ category: 'custom' })).toEqual([])
  const address = `0x${'ab'.repeat(20)}`
  const change = { payout_address_base: address }
  const changed = await market.client().patch('/api/agents/me', change, { bearer: agent.apiKey })
  expect(changed.status).toBe(200)
  expect(await titles({ category: 'custom' })).toEqual([])
  const path = `/api/agents/${agent.id}/payout-change/confirm`
  expect((await market.client().post(path, { address }, { bearer: token })).status).toBe(200)
  expect(await titles({ category: 'custom' })).toEqual(['Dancing lessons by mail'])
})

test('400: an invalid filter, and a forged cursor', async () => {
  for (const [field, value] of [
    ['category', 'dancing'],
    ['chain', 'base-mainnet'],
    ['limit', '0'],
    ['limit', '201'],
    ['search', ''],
    ['search', 'x'.repeat(101)],
  ] as const)
    expect((await list({ [field]: value })).body.details?.[0]?.path).toBe(field)
  invalid(await list({ cursor: 'nonsense' }), 'cursor')
})
