import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { agentOf, makeOrder, orderAgain, orderOf } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (id: string) => `/api/agents/${id}/orders`
const list = (id: string, ask: RequestOptions, query = '') =>
  market.client().get(`${pathOf(id)}${query}`, ask)
const idsOf = (orders: readonly { id: string }[]) => orders.map(({ id }) => id)

const subject: Subject = {
  market: () => market,
  operation: operations.listAgentOrders,
  good: async () => {
    const agent = await makeOwnedAgent(market)
    return { path: pathOf(agent.id), ask: { bearer: agent.apiKey } }
  },
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(MISSING))

test('200: the orders of the agent, for the agent, its owner wallet and its owner', async () => {
  const { seller, service, id } = await makeOrder(market)
  const { token } = await makeUser(market, { wallets: [seller.owner.address] })
  const headers = asHeaders(await signed(seller.owner, 'session', market.now()))
  for (const ask of [{ bearer: seller.apiKey }, { bearer: token }, { headers }]) {
    const { status, body } = await list(seller.id, ask)
    expect(status).toBe(200)
    const known = { id, serviceId: service.id, agentId: seller.id }
    expect(body).toEqual({ success: true, data: [orderOf(known, agentOf(seller))], next_cursor: null })
  }
})

test('200: filters by status, service and time before the limit', async () => {
  const { seller, buyer, service, id } = await makeOrder(market)
  const ask = { bearer: buyer.apiKey }
  const quoteService = await makeService(market, seller, { price_type: 'quote', price_usd: undefined })
  const waiting = await orderAgain(market, quoteService.id, ask)
  const own = (query: string) => list(seller.id, { bearer: seller.apiKey }, query)
  expect(idsOf((await own('?status=pending_quote&limit=1')).body.data)).toEqual([waiting])
  expect(idsOf((await own('?status=quoted&limit=1')).body.data)).toEqual([id])
  expect(idsOf((await own('?status=quoted,pending_quote')).body.data)).toEqual([waiting, id])
  expect(idsOf((await own(`?service_id=${service.id}`)).body.data)).toEqual([id])
  const since = new Date(market.now() + 60_000).toISOString()
  expect((await own(`?since=${since}`)).body.data).toEqual([])
})

test('200: each page continues after the previous one', async () => {
  const { seller, service, buyer, id } = await makeOrder(market)
  const made = [id]
  for (let n = 0; n < 2; n++) made.unshift(await orderAgain(market, service.id, { bearer: buyer.apiKey }))
  const ask = { bearer: seller.apiKey }
  const first = await list(seller.id, ask, '?limit=2')
  const second = await list(seller.id, ask, `?limit=2&cursor=${first.body.next_cursor}`)
  expect([...idsOf(first.body.data), ...idsOf(second.body.data)]).toEqual(made)
  expect(second.body.next_cursor).toBeNull()
})

test('400: an unknown status, an invalid time, and an invalid limit', async () => {
  const { id, apiKey } = await makeOwnedAgent(market)
  const own = (query: string) => list(id, { bearer: apiKey }, query)
  for (const status of ['', 'done', 'paid,', 'paid,done']) invalid(await own(`?status=${status}`), 'status')
  invalid(await own('?since=yesterday'), 'since')
  invalid(await own('?limit=101&cursor=1'), 'limit')
  invalid(await own('?cursor=1'), 'cursor')
  invalid(await own('?service_id=service_1'), 'service_id')
  invalid(await list('agent_1', { bearer: apiKey }), 'agent_id')
})

test('403: another agent, another user, and an admin key', async () => {
  const [agent, other] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  const { token } = await makeUser(market)
  for (const bearer of [other.apiKey, token])
    rejected(await list(agent.id, { bearer }), 403, 'not_your_agent')
  rejected(await list(agent.id, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const hidden = await makeAgent(market)
  const { apiKey } = await makeOwnedAgent(market)
  rejected(await list(hidden.id, { bearer: apiKey }), 403, 'not_your_agent')
  const reply = await list(MISSING, { bearer: apiKey })
  rejected(reply, 404, 'agent_not_found')
  expect(reply.body.error).toBe(`No agent has the id or slug "${MISSING}".`)
})
