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
import { makeService, serviceOf, summaryOf } from '../support/services.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (agentId: string) => `/api/agents/${agentId}/services`
const list = (agentId: string, query = '', ask?: RequestOptions) =>
  market.client().get(`${pathOf(agentId)}${query}`, ask)

const subject: Subject = {
  market: () => market,
  operation: operations.listAgentServices,
  good: async () => ({ path: pathOf((await makeOwnedAgent(market)).id) }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(MISSING))

/** An agent with three services, the second of them inactive. */
async function makeSeller() {
  const agent = await makeOwnedAgent(market)
  const [first, second, third] = [
    await makeService(market, agent),
    await makeService(market, agent),
    await makeService(market, agent),
  ]
  await market.client().send('DELETE', `/api/services/${second.id}`, { bearer: agent.apiKey })
  return { agent, first, second, third }
}

test('200: active services, newest first, for any caller', async () => {
  const { agent, first, third } = await makeSeller()
  const { status, body } = await list(agent.id)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: [summaryOf(third), summaryOf(first)], next_cursor: null })
  const otherUser = await makeUser(market)
  const headers = asHeaders(await signed(evmSigner(), 'session', market.now()))
  for (const ask of [{ bearer: otherUser.token }, { headers }])
    expect((await list(agent.id, '', ask)).body.data).toEqual(body.data)
})

test('200: all services, for the agent and its owner', async () => {
  const { agent, first, second, third } = await makeSeller()
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const headers = asHeaders(await signed(agent.owner, 'session', market.now()))
  const all = [serviceOf(third), serviceOf(second, { active: false }), serviceOf(first)]
  for (const ask of [{ bearer: agent.apiKey }, { bearer: token }, { headers }])
    expect((await list(agent.id, '', ask)).body.data).toEqual(all)
})

test('200: the services of an agent without an owner, for itself and for others', async () => {
  const hidden = await makeAgent(market)
  const service = await makeService(market, hidden)
  const own = await list(hidden.id, '', { bearer: hidden.apiKey })
  expect(own.body.data).toEqual([serviceOf(service, { marketable: false })])
  expect((await list(hidden.id)).body.data).toEqual([summaryOf(service, { marketable: false })])
})

test('200: pages contain each service once', async () => {
  const { agent, first, second, third } = await makeSeller()
  const ids: string[] = []
  let query = '?limit=1'
  for (let page = 0; page < 3; page++) {
    const { body } = await list(agent.id, query, { bearer: agent.apiKey })
    ids.push(...body.data.map(({ id }: { id: string }) => id))
    query = `?limit=1&cursor=${body.next_cursor}`
  }
  expect(query).toBe('?limit=1&cursor=null')
  expect(ids).toEqual([third.id, second.id, first.id])
})

test('400: an invalid id, an invalid limit, and a cursor of another list', async () => {
  const { agent } = await makeSeller()
  invalid(await list('nobody'), 'agent_id')
  invalid(await list(agent.id, '?limit=0'), 'limit')
  invalid(await list(agent.id, '?cursor=nonsense'), 'cursor')
  const { body } = await market.client().get(`/api/services?sort=newest&limit=1&agent_id=${agent.id}`)
  invalid(await list(agent.id, `?cursor=${body.next_cursor}`), 'cursor')
})

test('401: an invalid API key, token or signature', async () => {
  rejected(await list(MISSING, '', { bearer: `market_${'0'.repeat(49)}` }), 401, 'bad_api_key')
  rejected(await list(MISSING, '', { bearer: 'not.a.token' }), 401, 'bad_token')
  for (const [code, proof] of await badSignatures(await solanaSigner(), 'session', market.now()))
    rejected(await list(MISSING, '', { headers: asHeaders(proof) }), 401, code)
})

test('200: ignores the cookie of a cross-site request', async () => {
  const cookie = `idp-token=${(await makeUser(market)).token}`
  expect((await list((await makeOwnedAgent(market)).id, '', { headers: { cookie } })).status).toBe(200)
})

test('404: an id of any form that does not exist', async () => {
  for (const id of [MISSING, 'ext_123_abc']) rejected(await list(id), 404, 'agent_not_found')
})
