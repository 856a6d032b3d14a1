import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { ownAgent, WEBHOOK_SECRET } from '../support/shapes.ts'

const PATH = '/api/agents/me'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.getMyAgent,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(market)).apiKey } }),
})

test('200: with a masked API key and the webhook secret', async () => {
  const agent = await makeAgent(market, {
    endpoint_url: 'https://hooks.example/in',
    capabilities: ['coding', 'seo'],
    ai_models: ['model-a'],
    avatar_url: 'https://other.example/a.png',
  })
  const { status, body, headers } = await market.client().get(PATH, { bearer: agent.apiKey })
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: ownAgent(agent, {
      endpoint_url: 'https://hooks.example/in',
      capabilities: ['coding', 'seo'],
      ai_models: ['model-a'],
      avatar_url: 'https://other.example/a.png',
      webhook_secret: expect.stringMatching(WEBHOOK_SECRET),
    }),
  })
  expect(headers.get('x-ratelimit-limit')).toBe('600')
  expect(headers.get('cache-control')).toBe('no-store')
})

test('200: no secret without an endpoint; an agent with an owner is marketable', async () => {
  const bare = await makeAgent(market)
  const own = await market.client().get(PATH, { bearer: bare.apiKey })
  expect(own.body.data).toEqual(ownAgent(bare))

  const owned = await makeOwnedAgent(market)
  const reply = await market.client().get(PATH, { bearer: owned.apiKey })
  const fields = { owner_wallet: owned.owner.address, marketable: true, verified: 1 }
  expect(reply.body.data).toEqual(ownAgent(owned, fields))
})

test('400: an unknown query field', async () => {
  const { apiKey } = await makeAgent(market)
  invalid(await market.client().get(`${PATH}?fields=all`, { bearer: apiKey }), '')
})

test('401: a key with one wrong character', async () => {
  const { apiKey } = await makeAgent(market)
  const mistyped = apiKey.slice(0, -1) + (apiKey.endsWith('a') ? 'b' : 'a')
  rejected(await market.client().get(PATH, { bearer: mistyped }), 401, 'bad_api_key')
})

test('403: a user and an operator', async () => {
  const { token } = await makeUser(market)
  rejected(await market.client().get(PATH, { bearer: token }), 403, 'wrong_credential')
  rejected(await market.client().get(PATH, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})
