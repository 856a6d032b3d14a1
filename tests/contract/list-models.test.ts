import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

const PATH = '/api/models'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.listModels,
  good: async () => ({ path: PATH }),
})

test('200: empty without agents; then most used first, without hidden agents', async () => {
  const empty = await market.client().get(PATH)
  expect(empty.status).toBe(200)
  expect(empty.body).toEqual({ success: true, data: [], next_cursor: null })

  await makeOwnedAgent(market, { ai_models: ['model-b', 'model-c'] })
  await makeOwnedAgent(market, { ai_models: ['model-c', 'model-a'] })
  await makeAgent(market, { ai_models: ['model-a', 'model-hidden'] })
  const { body } = await market.client().get(PATH)
  expect(body).toEqual({
    success: true,
    data: [
      { model: 'model-c', agents: 2 },
      { model: 'model-a', agents: 1 },
      { model: 'model-b', agents: 1 },
    ],
    next_cursor: null,
  })
  const two = await market.client().get(`${PATH}?limit=2`)
  const rest = await market.client().get(`${PATH}?limit=2&cursor=${two.body.next_cursor}`)
  expect([...two.body.data, ...rest.body.data]).toEqual(body.data)
})

test('400: two different credentials', async () => {
  const bearer = `market_${'0'.repeat(49)}`
  rejected(await market.client().get(`${PATH}?idp_access_token=other`, { bearer }), 400, 'two_credentials')
})

test('200: an unknown query parameter is ignored', async () => {
  expect((await market.client().get(`${PATH}?limit=3`)).status).toBe(200)
})
