import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeAgentWithService, makeOrderIn } from '../support/order-in-state.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (agentId: string, query = '') => `/api/agents/${agentId}/reviews${query}`
const list = (agentId: string, query = '') => market.client().get(pathOf(agentId, query))

commonErrors({
  market: () => market,
  operation: operations.listReviews,
  good: async () => ({ path: pathOf((await makeOwnedAgent(market)).id) }),
})

/** An agent with as many reviews, oldest first. */
async function makeReviewed(count: number) {
  const { agent, service } = await makeAgentWithService(market)
  const reviews: unknown[] = []
  for (let n = 0; n < count; n++) {
    const { id, sign } = await makeOrderIn(market, service, 'completed')
    const headers = await sign(`orders.review:${id}`)
    const body = { rating: (n % 5) + 1, comment: `word ${n}` }
    const reply = await market.client().post(`/api/orders/${id}/review`, body, { headers })
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    reviews.push(reply.body.data)
  }
  return { agent, reviews }
}

test('200: an empty list for an agent without reviews', async () => {
  const { status, body } = await list((await makeOwnedAgent(market)).id)
  expect(status).toBe(200)
  const stars = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 }
  expect(body).toEqual({ success: true, data: [], stars, next_cursor: null })
})

test('200: newest first, in pages; getAgent includes the newest 5', async () => {
  const { agent, reviews } = await makeReviewed(7)
  const first = await list(agent.id, '?limit=4')
  const second = await list(agent.id, `?limit=4&cursor=${first.body.next_cursor}`)
  expect([...first.body.data, ...second.body.data]).toEqual(reviews.toReversed())
  expect(second.body.next_cursor).toBeNull()
  for (const { body } of [first, second]) expect(body['stars']).toEqual({ 1: 2, 2: 2, 3: 1, 4: 1, 5: 1 })
  const page = (await market.client().get(`/api/agents/${agent.id}`)).body.data
  expect(page.reviews).toEqual(reviews.toReversed().slice(0, 5))
  expect(page.stats).toMatchObject({ review_count: 7, avg_rating: 2.57 })
})

test('200: the reviews of one service with their stars; 404 for a service of another agent', async () => {
  const { agent, service } = await makeAgentWithService(market)
  const other = await makeService(market, agent)
  const written: unknown[] = []
  for (const [of, rating] of [
    [service, 5],
    [other, 1],
    [service, 4],
  ] as const) {
    const { id, sign } = await makeOrderIn(market, of, 'completed')
    const headers = await sign(`orders.review:${id}`)
    written.push((await market.client().post(`/api/orders/${id}/review`, { rating }, { headers })).body.data)
  }
  const { body } = await list(agent.id, `?service_id=${service.id}`)
  expect(body.data).toEqual([written[2], written[0]])
  expect(body['stars']).toEqual({ 1: 0, 2: 0, 3: 0, 4: 1, 5: 1 })
  expect((await list(agent.id)).body['stars']).toEqual({ 1: 1, 2: 0, 3: 0, 4: 1, 5: 1 })
  expect((await list(agent.id, `?service_id=${other.id}`)).body['stars']).toMatchObject({ 1: 1, 5: 0 })
  const page = await list(agent.id, `?service_id=${service.id}&limit=1`)
  const next = await list(agent.id, `?service_id=${service.id}&limit=1&cursor=${page.body.next_cursor}`)
  expect([...page.body.data, ...next.body.data]).toEqual(body.data)
  const stranger = await makeOwnedAgent(market)
  rejected(await list(stranger.id, `?service_id=${service.id}`), 404, 'service_not_found')
  invalid(await list(agent.id, '?service_id=x'), 'service_id')
})

test('200: does not contain the buyer', async () => {
  const { agent, service } = await makeAgentWithService(market)
  const { id, buyer, sign } = await makeOrderIn(market, service, 'completed')
  const headers = await sign(`orders.review:${id}`)
  await market.client().post(`/api/orders/${id}/review`, { rating: 2 }, { headers })
  const text = JSON.stringify((await list(agent.id)).body).toLowerCase()
  expect(text).toContain('"rating":2')
  for (const secret of [id, buyer.address.toLowerCase()]) expect(text).not.toContain(secret)
})

test('400: an invalid id, limit or cursor', async () => {
  const { id } = await makeOwnedAgent(market)
  invalid(await list('agent_1'), 'agent_id')
  for (const limit of ['0', '101', 'all']) invalid(await list(id, `?limit=${limit}`), 'limit')
  for (const cursor of [
    'x',
    forgeCursor(['reviews', 1, 'msg_1_00000000000000000']),
    forgeCursor(['reviews', 1, 'rev_1_0']),
    forgeCursor(['messages', 1, 'rev_1_00000000000000000']),
  ])
    invalid(await list(id, `?cursor=${cursor}`), 'cursor')
})

test('404: a missing agent', async () => {
  for (const id of ['agt_1', `agt_1700000000000_${'0'.repeat(17)}`])
    rejected(await list(id), 404, 'agent_not_found')
})
