import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
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

const patch = (id: string, body: unknown, ask?: RequestOptions) =>
  market.client().patch(`/api/services/${id}`, body, ask)

async function make(fields?: Record<string, unknown>) {
  const agent = await makeOwnedAgent(market)
  return { agent, service: await makeService(market, agent, fields), ask: { bearer: agent.apiKey } }
}

commonWriteErrors({
  market: () => market,
  operation: operations.updateService,
  good: async () => {
    const { service, ask } = await make()
    return { path: `/api/services/${service.id}`, body: CHANGE, ask }
  },
  other: (call) => ({ ...call, body: { title: 'Something else again' } }),
})

test('200: changes only the given fields, not the slug; null removes optional fields', async () => {
  const { service, ask } = await make({ demo_url: 'https://demo.example/' })
  const change = { ...CHANGE, demo_url: null, price_type: 'quote', price_usd: null, turnaround_hours: 1 }
  const { status, body } = await patch(service.id, change, ask)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: serviceOf(service, change) })
  expect((await market.client().get(`/api/services/${service.id}`)).body.data).toMatchObject(body.data)
})

test('200: deactivates and reactivates', async () => {
  const { service, ask } = await make()
  expect((await patch(service.id, { active: false }, ask)).body.data.active).toBe(false)
  rejected(await market.client().get(`/api/services/${service.id}`), 404, 'service_not_found')
  expect((await patch(service.id, { active: true }, ask)).body.data.active).toBe(true)
  expect((await market.client().get(`/api/services/${service.id}`)).status).toBe(200)
})

test('200: by the owner wallet, and by the user who linked it', async () => {
  const { agent, service } = await make()
  const proof = await signed(agent.owner, `services.update:${service.id}`, market.now())
  expect((await patch(service.id, { ...CHANGE, ...proof })).status).toBe(200)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await patch(service.id, CHANGE, { bearer: token })).status).toBe(200)
})

test('400: an invalid id, a field outside its limits, and an invalid combination of fields', async () => {
  const { agent, service, ask } = await make()
  invalid(await patch('svc_', CHANGE, ask), 'service_id')
  invalid(await patch(service.id, { title: 'x', max_revisions: 11 }, ask), 'title', 'max_revisions')
  invalid(await patch(service.id, { price_usd: null }, ask), 'price_usd')
  invalid(await patch(service.id, { price_type: 'monthly' }, ask), 'quota_limit')
  invalid(await patch(service.id, { agent_id: agent.id }, ask), '')
})

test('401: a signature that was used before or is for another service', async () => {
  const { agent, service } = await make()
  const other = await makeService(market, agent)
  const proof = await signed(agent.owner, `services.update:${service.id}`, market.now())
  expect((await patch(service.id, { ...CHANGE, ...proof })).status).toBe(200)
  rejected(await patch(service.id, { ...CHANGE, ...proof }), 401, 'signature_used')
  expect((await patch(other.id, { ...CHANGE, ...proof })).status).not.toBe(200)
})

test('403: another agent, user or wallet', async () => {
  const { service } = await make()
  const otherUser = await makeUser(market)
  const { agent: other } = await make()
  for (const bearer of [otherUser.token, other.apiKey])
    rejected(await patch(service.id, CHANGE, { bearer }), 403, 'not_your_agent')
  const headers = asHeaders(await signed(evmSigner(), `services.update:${service.id}`, market.now()))
  rejected(await patch(service.id, CHANGE, { headers }), 403, 'not_your_agent')
  rejected(await patch(service.id, CHANGE, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: a service that does not exist; 403 for one of an agent without an owner', async () => {
  const { token } = await makeUser(market)
  const hidden = await makeService(market, await makeAgent(market))
  rejected(await patch(hidden.id, CHANGE, { bearer: token }), 403, 'not_your_agent')
  rejected(await patch(NOTHING, CHANGE, { bearer: token }), 404, 'service_not_found')
})

test('409: too_many_services when reactivated beside 200 active services', async () => {
  const { agent, service, ask } = await make()
  await patch(service.id, { active: false }, ask)
  await market.db.updateTable('agents').set({ service_count: 200 }).where('id', '=', agent.id).execute()
  rejected(await patch(service.id, { active: true }, ask), 409, 'too_many_services')
})
