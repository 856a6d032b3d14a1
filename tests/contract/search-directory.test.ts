import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { invalid } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'

const PATH = '/api/x402/discovery/search?query=review'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
  await makeService(world.market, await makeOwnedAgent(world.market), {
    title: 'A review of one pull request',
  })
})
afterAll(() => world.stop())

commonErrors({
  market: () => world.market,
  operation: operations.searchDirectory,
  good: async () => ({ path: PATH }),
})

test('200: the body is the document itself, and may be cached for 30 seconds', async () => {
  const reply = await world.market.client().get(PATH)
  expect(reply.status).toBe(200)
  expect(operations.searchDirectory.output.parse(reply.body)).toEqual(reply.body)
  expect(reply.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=30')
})

test('400: a query that is not valid', async () => {
  invalid(await world.market.client().get('/api/x402/discovery/search'), 'query')
})
