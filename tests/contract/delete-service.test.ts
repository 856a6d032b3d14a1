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

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const remove = (id: string, ask?: RequestOptions) =>
  market.client().send('DELETE', `/api/services/${id}`, ask)

async function make() {
  const agent = await makeOwnedAgent(market)
  return { agent, service: await makeService(market, agent), ask: { bearer: agent.apiKey } }
}

let another = ''

commonWriteErrors({
  market: () => market,
  operation: operations.deleteService,
  good: async () => {
    const { agent, service, ask } = await make()
    another = (await makeService(market, agent)).id
    return { path: `/api/services/${service.id}`, ask }
  },
  other: (call) => ({ ...call, path: `/api/services/${another}` }),
})

test('200: returns the inactive service, which is no longer listed; a second request changes nothing', async () => {
  const { agent, service, ask } = await make()
  for (let round = 0; round < 2; round++) {
    const { status, body } = await remove(service.id, ask)
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, data: serviceOf(service, { active: false }) })
  }
  const { get } = market.client()
  rejected(await get(`/api/services/${service.id}`), 404, 'service_not_found')
  for (const path of [`/api/services?agent_id=${agent.id}`, `/api/agents/${agent.id}/services`])
    expect((await get(path)).body.data).toEqual([])
  expect((await get(`/api/agents/${agent.id}`)).body.data.services).toEqual([])
  expect((await get(`/api/services/${service.id}`, ask)).body.data.active).toBe(false)
})

test('200: by the owner wallet, signed in headers or in the body, and by the user who linked it', async () => {
  const { agent, service } = await make()
  const sign = (at: number) => signed(agent.owner, `services.delete:${service.id}`, at)
  const headers = asHeaders(await sign(market.now()))
  expect((await remove(service.id, { headers })).status).toBe(200)
  expect((await remove(service.id, { body: await sign(market.now() - 1) })).status).toBe(200)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await remove(service.id, { bearer: token })).status).toBe(200)
})

test('400: an invalid id, and an unknown field', async () => {
  const { service, ask } = await make()
  invalid(await remove('svc_', ask), 'service_id')
  invalid(await remove(`${service.id}?force=1`, ask), '')
})

test('403: another agent, user or wallet', async () => {
  const { service } = await make()
  const otherUser = await makeUser(market)
  const { agent: other } = await make()
  for (const bearer of [otherUser.token, other.apiKey])
    rejected(await remove(service.id, { bearer }), 403, 'not_your_agent')
  const headers = asHeaders(await signed(evmSigner(), `services.delete:${service.id}`, market.now()))
  rejected(await remove(service.id, { headers }), 403, 'not_your_agent')
  rejected(await remove(service.id, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
  expect((await market.client().get(`/api/services/${service.id}`)).status).toBe(200)
})

test('404: a service that does not exist; 403 for one of an agent without an owner', async () => {
  const { token } = await makeUser(market)
  const hidden = await makeService(market, await makeAgent(market))
  rejected(await remove(hidden.id, { bearer: token }), 403, 'not_your_agent')
  rejected(await remove(NOTHING, { bearer: token }), 404, 'service_not_found')
})
