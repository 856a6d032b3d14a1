import { operations } from '@market/contract/operations'
import { DAY, earlier } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import type { Status } from '@market/trade/orders'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { makeOrderIn } from '../support/order-in-state.ts'
import { makeService } from '../support/services.ts'

const PATH = '/api/x402/trending'

type Made = Awaited<ReturnType<typeof makeService>>

let world: OrderWorld
let market: Market
beforeAll(async () => {
  world = await startOrderWorld()
  market = world.market
  const seller = await makeOwnedAgent(market)
  const make = (title: string) => makeService(market, seller, { title })
  const loved = await make('Three buyers')
  const rated = await make('Two buyers, well rated')
  const plain = await make('Two buyers, unrated')
  const friend = await make('One friend who buys five times')
  const old = await make('Bought ten days ago')
  const given = await make('Given back')
  const gone = await make('Bought and gone')
  await make('Never bought')
  await buy(loved, 'paid', 'in_progress', 'completed')
  await buy(plain, 'delivered', 'disputed')
  await buy(rated, 'revision_requested', 'completed')
  await buyAsOne(friend, 5)
  await buy(given, 'cancelled', 'quoted', 'accepted', 'cancelled')
  await buy(gone, 'paid')
  const ids = await buy(old, 'paid', 'paid', 'paid', 'paid')
  await market.db
    .updateTable('orders')
    .set({ paid_at: earlier(new Date(market.now()), 10 * DAY) })
    .where('id', 'in', ids)
    .execute()
  await market.db
    .updateTable('listings')
    .set({ rating_sum: 50, rating_count: 10 })
    .where('id', '=', rated.id)
    .execute()
  await market.client().send('DELETE', `/api/services/${gone.id}`, { bearer: seller.apiKey })
})
afterAll(() => world.stop())

const buy = (service: Made, ...states: Status[]) =>
  Promise.all(states.map(async (status) => (await makeOrderIn(market, service, status)).id))

async function buyAsOne(service: Made, times: number): Promise<void> {
  const buyer = evmSigner()
  for (let time = 0; time < times; time++) await makeOrderIn(market, service, 'paid', buyer)
}

const list = (query: Record<string, string> = {}) =>
  market.client().get(`${PATH}?${new URLSearchParams(query)}`)

const ranked = async (query: Record<string, string> = {}): Promise<unknown[]> => {
  const { status, body } = await list(query)
  expect(status).toBe(200)
  return body.data.map((one: Record<string, unknown>) => [
    one['title'],
    one['recent_buyers'],
    one['recent_orders'],
  ])
}

commonErrors({
  market: () => market,
  operation: operations.listTrendingServices,
  good: async () => ({ path: PATH }),
})

test('200: sorts by distinct buyers, orders and rating; excludes refunded and unpaid orders and inactive services', async () => {
  expect(await ranked()).toEqual([
    ['Three buyers', 3, 3],
    ['Two buyers, well rated', 2, 2],
    ['Two buyers, unrated', 2, 2],
    ['One friend who buys five times', 1, 5],
  ])
  const { body } = await list({ limit: '1' })
  expect(body.data).toHaveLength(1)
  expect(body.data[0]).toMatchObject({
    price_usd: '12.50',
    x402_price_usd: '13.75',
    amount: '13750000',
    networks: ['base-mainnet'],
  })
})

test('200: counts only orders in the requested window', async () => {
  expect((await ranked({ window_days: '30' }))[0]).toEqual(['Bought ten days ago', 4, 4])
  expect(await ranked({ window_days: '30', limit: '50' })).toHaveLength(5)
})

test('400: invalid limits', async () => {
  for (const [field, value] of [
    ['limit', '0'],
    ['limit', '51'],
    ['window_days', '0'],
    ['window_days', '91'],
    ['window_days', 'week'],
  ] as const)
    expect((await list({ [field]: value })).body.details?.[0]?.path).toBe(field)
})
