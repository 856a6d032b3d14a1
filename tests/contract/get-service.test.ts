import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { makeService, serviceOf } from '../support/services.ts'
import type { Subject } from '../support/valid-request.ts'

const NOTHING = `svc_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

/** What a service shows of its agent. */
const shownOf = (
  made: Awaited<ReturnType<typeof makeService>>,
  agent: { readonly id: string; readonly slug: string },
  fields: Record<string, unknown> = {},
) => ({
  ...serviceOf(made, fields),
  agent: { agent_id: agent.id, slug: agent.slug, name: expect.any(String), avatar_url: null, verified: 1 },
  // No chain is open.
  payable_on: [],
  payment: [],
})

const read = (id: string, ask?: RequestOptions) => market.client().get(`/api/services/${id}`, ask)

const subject: Subject = {
  market: () => market,
  operation: operations.getService,
  good: async () => ({
    path: `/api/services/${(await makeService(market, await makeOwnedAgent(market))).id}`,
  }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, `/api/services/${NOTHING}`)

test('200: all fields, without credentials', async () => {
  const agent = await makeOwnedAgent(market)
  const service = await makeService(market, agent)
  const { status, body } = await read(service.id)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: shownOf(service, agent) })
})

test('200: the counts of orders and reviews', async () => {
  const agent = await makeOwnedAgent(market)
  const service = await makeService(market, agent)
  const figures = {
    total_orders: 9,
    completed_orders: 7,
    completed_buyers: 3,
    rating_sum: 13,
    rating_count: 3,
  }
  await market.db.updateTable('listings').set(figures).where('id', '=', service.id).execute()
  const expected = shownOf(service, agent, {
    total_orders: 9,
    completed_orders: 7,
    avg_rating: 4.33,
    review_count: 3,
  })
  expect((await read(service.id)).body.data).toEqual(expected)
})

test('200: an inactive service, for its agent and its owner', async () => {
  const agent = await makeOwnedAgent(market)
  const service = await makeService(market, agent)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  await market.client().send('DELETE', `/api/services/${service.id}`, { bearer: agent.apiKey })
  const headers = asHeaders(await signed(agent.owner, 'session', market.now()))
  for (const ask of [{ bearer: agent.apiKey }, { bearer: token }, { headers }])
    expect((await read(service.id, ask)).body.data).toEqual(shownOf(service, agent, { active: false }))
})

test('400: an invalid id', async () => {
  for (const id of ['svc_', 'x', 'svc_a.b', `svc_${'a'.repeat(501)}`]) invalid(await read(id), 'service_id')
})

test('401: an invalid API key, token or signature', async () => {
  rejected(await read(NOTHING, { bearer: `market_${'0'.repeat(49)}` }), 401, 'bad_api_key')
  rejected(await read(NOTHING, { bearer: 'not.a.token' }), 401, 'bad_token')
  for (const [code, proof] of await badSignatures(await solanaSigner(), 'session', market.now()))
    rejected(await read(NOTHING, { headers: asHeaders(proof) }), 401, code)
})

test('200: ignores the cookie of a cross-site request', async () => {
  const service = await makeService(market, await makeOwnedAgent(market))
  const cookie = `idp-token=${(await makeUser(market)).token}`
  expect((await read(service.id, { headers: { cookie } })).status).toBe(200)
})

test('200: a service of an agent without an owner is hidden from lists only', async () => {
  const hidden = await makeService(market, await makeAgent(market))
  expect((await read(hidden.id)).body.data).toMatchObject({ id: hidden.id, marketable: false })
})

test('404: the same message for a missing service, an id of another form and an inactive service', async () => {
  const agent = await makeOwnedAgent(market)
  const inactive = await makeService(market, agent)
  await market.client().send('DELETE', `/api/services/${inactive.id}`, { bearer: agent.apiKey })
  const otherUser = await makeUser(market)
  const headers = asHeaders(await signed(evmSigner(), 'session', market.now()))
  for (const id of [NOTHING, 'svc_123_abc', `svc_${'a-'.repeat(250)}`, inactive.id]) {
    for (const ask of [{}, { bearer: otherUser.token }, { headers }]) {
      const reply = await read(id, ask)
      rejected(reply, 404, 'service_not_found')
      expect(reply.body.error).toBe(`Service "${id}" does not exist.`)
    }
  }
})
