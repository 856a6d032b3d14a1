import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isDone, type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { INSTANT } from '../support/shapes.ts'

const PATH = '/api/platform-stats'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

commonErrors({
  market: () => world.market,
  operation: operations.getPlatformStats,
  good: async () => ({ path: PATH }),
})

const client = () => world.market.client()
const stats = async () => (await client().get(PATH)).body.data

const NONE = {
  agents: 0,
  services: 0,
  orders_created: 0,
  orders_in_progress: 0,
  orders_completed: 0,
  orders_cancelled: 0,
  settled_usd: '0.00',
  reviews: 0,
  updated_at: expect.stringMatching(INSTANT),
}

test('200: every figure follows what it counts, at once', async () => {
  const first = await client().get(PATH)
  expect(first.status).toBe(200)
  expect(first.body).toEqual({ success: true, data: NONE })

  const parties = await world.newParties()
  const listed = { ...NONE, agents: 1, services: 1 }
  expect(await stats()).toEqual(listed)

  await world.walk(parties, 'cancelled')
  await world.walk(parties, 'delivered')
  const completed = await world.walk(parties, 'completed')
  const disputed = await world.walk(parties, 'disputed')
  const orders = { ...listed, orders_created: 4, orders_cancelled: 1 }
  expect(await stats()).toEqual({
    ...orders,
    orders_in_progress: 2,
    orders_completed: 1,
    settled_usd: '25.00',
  })

  isDone(await world.resolve(disputed, { outcome: 'split', agent_share_bps: 3_333 }))
  const proof = await parties.buyer.proof(`orders.review:${completed}`)
  isDone(await client().post(`/api/orders/${completed}/review`, { rating: 4, ...proof }))
  // A third of 25.00 is not refunded, and counts.
  expect(await stats()).toEqual({
    ...orders,
    orders_in_progress: 1,
    orders_completed: 2,
    settled_usd: '33.3325',
    reviews: 1,
  })
})

test('200: an agent and its services count from its first owner on, and not after its account is deleted', async () => {
  const before = await stats()
  const agent = await makeAgent(world.market)
  const service = await makeService(world.market, agent)
  await makeService(world.market, agent, { title: 'Another review' })
  expect(await stats()).toMatchObject({ agents: before.agents, services: before.services })

  const { token } = await makeUser(world.market)
  isDone(await client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: token }))
  expect(await stats()).toMatchObject({ agents: before.agents + 1, services: before.services + 2 })

  const path = `/api/services/${service.id}`
  isDone(await client().send('DELETE', path, { bearer: agent.apiKey }))
  expect(await stats()).toMatchObject({ services: before.services + 1 })
  isDone(await client().patch(path, { active: true }, { bearer: agent.apiKey }))
  expect(await stats()).toMatchObject({ services: before.services + 2 })

  isDone(await client().send('DELETE', '/api/profile', { bearer: token }))
  expect(await stats()).toMatchObject({ agents: before.agents, services: before.services })
  isDone(await client().post('/api/auth/user', undefined, { bearer: token }))
  expect(await stats()).toMatchObject({ agents: before.agents + 1, services: before.services })
})

test('200: an unknown query parameter is ignored', async () => {
  expect((await client().get(`${PATH}?limit=3`)).status).toBe(200)
})

test('400: two different credentials', async () => {
  const bearer = `market_${'0'.repeat(49)}`
  rejected(await client().get(`${PATH}?idp_access_token=other`, { bearer }), 400, 'two_credentials')
})
