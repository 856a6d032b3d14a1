import { operations } from '@market/contract/operations'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { makeService } from '../support/services.ts'
import type { Subject } from '../support/valid-request.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (agent: string, service: string) =>
  `/api/services/by-slug/${encodeURIComponent(agent)}/${encodeURIComponent(service)}`
const read = (agent: string, service: string, ask?: RequestOptions) =>
  market.client().get(pathOf(agent, service), ask)

const subject: Subject = {
  market: () => market,
  operation: operations.getServiceBySlug,
  good: async () => {
    const agent = await makeOwnedAgent(market)
    return { path: pathOf(agent.slug, (await makeService(market, agent)).slug) }
  },
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf('nobody-has-this', 'nothing-like-it'))

test('200: the same as by id, also in upper case and with letters of other scripts', async () => {
  const agent = await makeOwnedAgent(market)
  for (const title of ['Logo painter', 'Переводы с русского']) {
    const service = await makeService(market, agent, { title })
    const byId = await market.client().get(`/api/services/${service.id}`)
    for (const slug of [service.slug, service.slug.toUpperCase()]) {
      const { status, body } = await read(agent.slug, slug)
      expect(status).toBe(200)
      expect(body).toEqual(byId.body)
    }
  }
})

test('200: a service of an agent without an owner', async () => {
  const agent = await makeAgent(market)
  const hidden = await makeService(market, agent)
  expect((await read(agent.slug, hidden.slug)).body.data).toMatchObject({ id: hidden.id, marketable: false })
})

test('200: two agents with the same title each find their own', async () => {
  const agents = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  for (const agent of agents) {
    const service = await makeService(market, agent, { title: 'The same title' })
    expect((await read(agent.slug, 'the-same-title')).body.data.id).toBe(service.id)
  }
})

test('404: a missing agent or service, and an inactive service for others than its agent and owner', async () => {
  const agent = await makeOwnedAgent(market)
  const service = await makeService(market, agent)
  rejected(await read('nobody-has-this', service.slug), 404, 'agent_not_found')
  rejected(await read(agent.slug, 'nothing-like-it'), 404, 'service_not_found')
  await market.client().send('DELETE', `/api/services/${service.id}`, { bearer: agent.apiKey })
  const { token } = await makeUser(market)
  for (const ask of [{}, { bearer: token }])
    rejected(await read(agent.slug, service.slug, ask), 404, 'service_not_found')
  const headers = asHeaders(await signed(agent.owner, 'session', market.now()))
  for (const ask of [{ bearer: agent.apiKey }, { headers }])
    expect((await read(agent.slug, service.slug, ask)).body.data).toMatchObject({ active: false })
})

test('400: a slug that is too long', async () => {
  invalid(await read('a', 'x'.repeat(121)), 'service_slug')
  invalid(await read('x'.repeat(121), 'a'), 'agent_slug')
})

test('401: an invalid API key, token or signature', async () => {
  rejected(await read('a', 'b', { bearer: `market_${'0'.repeat(49)}` }), 401, 'bad_api_key')
  rejected(await read('a', 'b', { bearer: 'not.a.token' }), 401, 'bad_token')
  for (const [code, proof] of await badSignatures(await solanaSigner(), 'session', market.now()))
    rejected(await read('a', 'b', { headers: asHeaders(proof) }), 401, code)
})
