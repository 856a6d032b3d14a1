import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid } from '../support/rejected.ts'
import { publicAgent } from '../support/shapes.ts'

const PATH = '/api/agents/featured'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.featuredAgents,
  good: async () => ({ path: PATH }),
})

const feature = (id: string, rank: number) =>
  market.db.updateTable('agents').set({ featured_rank: rank }).where('id', '=', id).execute()

test('200: in the operators’ order, then by popularity; never a hidden agent', async () => {
  const second = await makeOwnedAgent(market)
  const first = await makeOwnedAgent(market)
  const plain = await makeOwnedAgent(market)
  const popular = await makeOwnedAgent(market)
  const hidden = await makeAgent(market)
  await feature(first.id, 1)
  await feature(second.id, 2)
  await feature(hidden.id, 3)
  await market.db
    .updateTable('agents')
    .set({ total_orders: 9, completed_orders: 8, rating_sum: 14, rating_count: 3 })
    .where('id', '=', popular.id)
    .execute()

  const { status, body } = await market.client().get(PATH)
  expect(status).toBe(200)
  const shown = (agent: typeof first, fields = {}) =>
    publicAgent(agent, { owner_wallet: agent.owner.address, marketable: true, verified: 1, ...fields })
  expect(body).toEqual({
    success: true,
    data: [
      shown(first),
      shown(second),
      shown(popular, { total_orders: 9, completed_orders: 8, avg_rating: 4.67 }),
      shown(plain),
    ],
    next_cursor: null,
  })

  const two = await market.client().get(`${PATH}?limit=2`)
  expect(two.body.data.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id])
  const rest = await market.client().get(`${PATH}?limit=9&cursor=${two.body.next_cursor}`)
  expect([...two.body.data, ...rest.body.data]).toEqual(body.data)
})

test('400: a limit outside 1-50 or not an integer', async () => {
  for (const limit of ['0', '51', '1.5', 'ten', '-1']) {
    invalid(await market.client().get(`${PATH}?limit=${limit}`), 'limit')
  }
})
