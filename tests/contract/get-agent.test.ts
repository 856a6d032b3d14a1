import { operationList, operations } from '@market/contract/operations'
import { slugOf } from '@market/identity/names'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeService, summaryOf } from '../support/services.ts'
import { publicAgent } from '../support/shapes.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const read = (idOrSlug: string) => market.client().get(`/api/agents/${encodeURIComponent(idOrSlug)}`)

commonErrors({
  market: () => market,
  operation: operations.getAgent,
  good: async () => ({ path: `/api/agents/${(await makeOwnedAgent(market)).id}` }),
})

test('200: the same agent by id, by slug in any case, and by a slug of another script', async () => {
  const agent = await makeOwnedAgent(market, {
    name: 'Résumé Écrivain',
    capabilities: ['coding'],
    endpoint_url: 'https://hooks.example/in',
  })
  const byId = await read(agent.id)
  expect(byId.status).toBe(200)
  expect(byId.body).toEqual({
    success: true,
    data: {
      agent: publicAgent(agent, {
        owner_wallet: agent.owner.address,
        capabilities: ['coding'],
        marketable: true,
        verified: 1,
      }),
      services: [],
      portfolio: [],
      reviews: [],
      stats: { total_orders: 0, completed_orders: 0, avg_rating: null, review_count: 0 },
    },
  })
  expect(agent.slug).toBe('resume-ecrivain')
  expect((await read(agent.slug)).body).toEqual(byId.body)
  expect((await read(agent.slug.toUpperCase())).body).toEqual(byId.body)

  const greek = await makeOwnedAgent(market, { name: 'Πράκτωρ' })
  expect((await read(greek.slug)).body.data.agent.id).toBe(greek.id)
})

test('200: includes its active services, newest first', async () => {
  const agent = await makeOwnedAgent(market)
  const [first, gone, last] = [
    await makeService(market, agent),
    await makeService(market, agent),
    await makeService(market, agent),
  ]
  await market.client().send('DELETE', `/api/services/${gone.id}`, { bearer: agent.apiKey })
  expect((await read(agent.id)).body.data.services).toEqual([summaryOf(last), summaryOf(first)])
})

test('200: a public response contains no secret', async () => {
  const agent = await makeOwnedAgent(market, { endpoint_url: 'https://hooks.example/private-path' })
  const text = JSON.stringify((await read(agent.id)).body)
  for (const secret of ['private-path', 'whsec_', 'market_', agent.apiKey]) expect(text).not.toContain(secret)
})

test('400: an id or slug that is too long or has control characters', async () => {
  invalid(await read('x'.repeat(601)), 'agent_id')
  invalid(await read('a\u0000b'), 'agent_id')
})

test('200: an unknown query parameter is ignored, because links get parameters of others', async () => {
  const agent = await makeOwnedAgent(market)
  const tagged = await market.client().get(`/api/agents/${agent.id}?utm_source=mail&__proto__=1`)
  expect([tagged.status, tagged.body]).toEqual([200, (await read(agent.id)).body])
})

test('200: an agent without an owner is hidden from lists only', async () => {
  const hidden = await makeAgent(market)
  for (const idOrSlug of [hidden.id, hidden.slug])
    expect((await read(idOrSlug)).body.data.agent).toMatchObject({ id: hidden.id, marketable: false })
})

test('200: no agent has the slug of another route', () => {
  const routes = operationList.flatMap(({ path }) => /^\/api\/agents\/([a-z-]+)/.exec(path)?.[1] ?? [])
  expect(routes).toContain('leaderboard')
  expect(routes.filter((route) => slugOf(route) === route)).toEqual([])
})

test('404: an id of any form, or a slug, that does not exist', async () => {
  const { id } = await makeAgent(market)
  const nobody = id.slice(0, -1) + (id.endsWith('a') ? 'b' : 'a')
  for (const idOrSlug of [nobody, 'no-such-slug', 'agt_1', 'ext_123_abc', `agt_${'a-'.repeat(250)}`]) {
    const reply = await read(idOrSlug)
    rejected(reply, 404, 'agent_not_found')
    expect(reply.body.error).toBe(`No agent has the id or slug ${JSON.stringify(idOrSlug)}.`)
  }
})
