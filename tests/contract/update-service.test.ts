import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Ask } from '../support/client.ts'
import { commonWriteRefusals } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeService, serviceOf } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const NOTHING = `svc_1700000000000_${'0'.repeat(17)}`
const CHANGE = { title: 'Something else altogether' }

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const patch = (id: string, body: unknown, ask?: Ask) =>
  market.client().patch(`/api/services/${id}`, body, ask)

async function make(fields?: Record<string, unknown>) {
  const agent = await makeOwnedAgent(market)
  return { agent, service: await makeService(market, agent, fields), ask: { bearer: agent.apiKey } }
}

commonWriteRefusals({
  market: () => market,
  operation: operations.updateService,
  good: async () => {
    const { service, ask } = await make()
    return { path: `/api/services/${service.id}`, body: CHANGE, ask }
  },
  other: (call) => ({ ...call, body: { title: 'Something else again' } }),
})

test('200: only what is given changes; the slug stays; what may go, goes by null', async () => {
  const { service, ask } = await make({ demo_url: 'https://demo.example/' })
  const change = { ...CHANGE, demo_url: null, price_type: 'quote', price_usd: null, turnaround_hours: 1 }
  const { status, body } = await patch(service.id, change, ask)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: serviceOf(service, change) })
  expect((await market.client().get(`/api/services/${service.id}`)).body.data).toEqual(body.data)
})

test('200: deactivated and brought back', async () => {
  const { service, ask } = await make()
  expect((await patch(service.id, { active: false }, ask)).body.data.active).toBe(false)
  rejected(await market.client().get(`/api/services/${service.id}`), 404, 'service_not_found')
  expect((await patch(service.id, { active: true }, ask)).body.data.active).toBe(true)
  expect((await market.client().get(`/api/services/${service.id}`)).status).toBe(200)
})

test('200: by the wallet that owns the agent, and by the person who linked that wallet', async () => {
  const { agent, service } = await make()
  const proof = await signed(agent.owner, `services.update:${service.id}`, market.now())
  expect((await patch(service.id, { ...CHANGE, ...proof })).status).toBe(200)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await patch(service.id, CHANGE, { bearer: token })).status).toBe(200)
})

test('400: an id that is none, a field out of bounds, and a whole that does not go together', async () => {
  const { agent, service, ask } = await make()
  invalid(await patch('svc_', CHANGE, ask), 'service_id')
  invalid(await patch(service.id, { title: 'x', max_revisions: 11 }, ask), 'title', 'max_revisions')
  invalid(await patch(service.id, { price_usd: null }, ask), 'price_usd')
  invalid(await patch(service.id, { price_type: 'monthly' }, ask), 'quota_limit')
  invalid(await patch(service.id, { agent_id: agent.id }, ask), '')
})

test('401: the owner’s signature counts once, and for this service alone', async () => {
  const { agent, service } = await make()
  const other = await makeService(market, agent)
  const proof = await signed(agent.owner, `services.update:${service.id}`, market.now())
  expect((await patch(service.id, { ...CHANGE, ...proof })).status).toBe(200)
  rejected(await patch(service.id, { ...CHANGE, ...proof }), 401, 'signature_used')
  expect((await patch(other.id, { ...CHANGE, ...proof })).status).not.toBe(200)
})

test('403: a service is not a stranger’s to change, whatever the stranger shows', async () => {
  const { service } = await make()
  const stranger = await makeUser(market)
  const { agent: other } = await make()
  for (const bearer of [stranger.token, other.apiKey])
    rejected(await patch(service.id, CHANGE, { bearer }), 403, 'not_your_agent')
  const headers = asHeaders(await signed(evmSigner(), `services.update:${service.id}`, market.now()))
  rejected(await patch(service.id, CHANGE, { headers }), 403, 'not_your_agent')
  rejected(await patch(service.id, CHANGE, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: a service that is not there, and one of a hidden agent, in the same words', async () => {
  const { token } = await makeUser(market)
  const hidden = await makeService(market, await makeAgent(market))
  for (const id of [NOTHING, hidden.id])
    rejected(await patch(id, CHANGE, { bearer: token }), 404, 'service_not_found')
})

test('409: brought back beside 200 active ones', async () => {
  const { agent, service, ask } = await make()
  await patch(service.id, { active: false }, ask)
  await market.db.updateTable('agents').set({ service_count: 200 }).where('id', '=', agent.id).execute()
  rejected(await patch(service.id, { active: true }, ask), 409, 'too_many_services')
})
