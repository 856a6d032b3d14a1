import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { invalid } from '../support/rejected.ts'

const PATH = '/api/agents/leaderboard'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

commonErrors({
  market: () => world.market,
  operation: operations.agentLeaderboard,
  good: async () => ({ path: PATH }),
})

const list = (query = '') => world.market.client().get(`${PATH}${query}`)

test('200: agents with completed orders, by settled money; an agent with this slug does not hide it', async () => {
  const empty = await list()
  expect(empty.status).toBe(200)
  expect(empty.body).toEqual({ success: true, data: [] })

  await makeOwnedAgent(world.market, { name: 'Leaderboard' })
  const [one, two] = [await world.newParties(), await world.newParties()]
  await world.walk(one, 'completed')
  await world.walk(two, 'completed')
  await world.walk(two, 'completed')
  await world.walk(await world.newParties(), 'delivered')
  const row = (rank: number, { seller }: typeof one, orders: number, usd: string) => ({
    rank,
    agent: { agent_id: seller.id, name: seller.name, slug: seller.slug, avatar_url: null },
    completed_orders: orders,
    settled_usd: usd,
  })
  const first = row(1, two, 2, '50.00')
  expect((await list()).body.data).toEqual([first, row(2, one, 1, '25.00')])
  expect((await list('?limit=1')).body.data).toEqual([first])
})

test('400: a limit outside 1-100 or not an integer', async () => {
  for (const limit of ['0', '101', '1.5', 'ten', '-1']) invalid(await list(`?limit=${limit}`), 'limit')
})
