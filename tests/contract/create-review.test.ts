import { operations } from '@market/contract/operations'
import type { Status } from '@market/trade/orders'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { makeAgentWithService, makeOrderIn } from '../support/order-in-state.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

const AT_ONCE = 20
const GOOD = { rating: 5, comment: 'Every line was read.' }

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (orderId: string) => `/api/orders/${orderId}/review`
const review = (orderId: string, body: unknown, ask: RequestOptions) =>
  market.client().post(pathOf(orderId), body, ask)

async function makeWork(status: Status = 'completed') {
  const { agent, service } = await makeAgentWithService(market)
  const { id, buyer, headers, sign } = await makeOrderIn(market, service, status)
  const byBuyer = async (body: unknown) => review(id, body, { headers: await sign(`orders.review:${id}`) })
  return { id, agent, service, buyer, headers, byBuyer }
}

/** An order is reviewed once, so another request of the same buyer is about another order of theirs. */
const otherOrders = new Map<string, string>()

commonWriteErrors({
  market: () => market,
  operation: operations.createReview,
  good: async () => {
    const { id, service, buyer } = await makeWork()
    const another = await makeOrderIn(market, service, 'completed', buyer)
    otherOrders.set(pathOf(id), pathOf(another.id))
    const { token } = await makeUser(market, { wallets: [buyer.address] })
    return { path: pathOf(id), body: GOOD, ask: { bearer: token } }
  },
  other: (call) => ({ ...call, path: otherOrders.get(call.path) ?? '' }),
})

test('201: the order and the agent include the review, and the ratings of agent and service count it', async () => {
  const { id, agent, service, headers, byBuyer } = await makeWork()
  const { status, body } = await byBuyer(GOOD)
  expect(status).toBe(201)
  expect(body).toEqual({
    success: true,
    data: {
      ...GOOD,
      id: expect.stringMatching(/^rev_\d{13}_[0-9a-z]{17}$/),
      agent_id: agent.id,
      service_id: service.id,
      created_at: expect.stringMatching(INSTANT),
    },
  })
  const read = async (path: string, ask?: RequestOptions) => (await market.client().get(path, ask)).body.data
  expect((await read(`/api/orders/${id}`, { headers })).review).toEqual(body.data)
  expect(await read(`/api/agents/${agent.id}`)).toMatchObject({
    agent: { avg_rating: 5 },
    reviews: [body.data],
    stats: { avg_rating: 5, review_count: 1 },
  })
  expect(await read(`/api/services/${service.id}`)).toMatchObject({ avg_rating: 5 })
})

test('201: a comment is optional and can have 500 characters of any script', async () => {
  for (const comment of [undefined, '', '𝕏'.repeat(500), '<b>"; drop table reviews; --</b>\n👩‍👩‍👧']) {
    const { byBuyer } = await makeWork()
    const { status, body } = await byBuyer({ rating: 1, comment })
    expect([status, body.data.comment]).toEqual([201, comment ?? ''])
  }
})

test('201: by a user who has linked the wallet that ordered', async () => {
  const { id, buyer } = await makeWork()
  const { token } = await makeUser(market, { wallets: [buyer.address] })
  expect((await review(id, GOOD, { bearer: token })).status).toBe(201)
})

test('400: an invalid rating, and a comment that is too long or has control characters', async () => {
  const { byBuyer } = await makeWork()
  for (const rating of [0, 6, -1, 4.5, '5', null, undefined]) invalid(await byBuyer({ rating }), 'rating')
  for (const comment of ['x'.repeat(501), 7, null, 'a\u0000b', 'a\u202eb'])
    invalid(await byBuyer({ rating: 5, comment }), 'comment')
})

test('400: order_not_completed while the order is not completed', async () => {
  for (const status of ['quoted', 'paid', 'delivered', 'disputed', 'cancelled'] as const) {
    const { byBuyer } = await makeWork(status)
    rejected(await byBuyer(GOOD), 400, 'order_not_completed')
  }
})

test('403: the agent, its owner, and an admin key', async () => {
  const { id, agent } = await makeWork()
  const owner = await signOnce(market, agent.owner, `orders.review:${id}`)
  for (const ask of [{ bearer: agent.apiKey }, { headers: owner }])
    rejected(await review(id, GOOD, ask), 403, 'not_your_act')
  rejected(await review(id, GOOD, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: another user and an operator, who are not parties', async () => {
  const { id } = await makeWork()
  const otherUser = await makeUser(market)
  const other = await makeOwnedAgent(market)
  for (const bearer of [otherUser.token, other.apiKey, await operatorToken(market)])
    rejected(await review(id, GOOD, { bearer }), 404, 'order_not_found')
})

test(`409: of ${AT_ONCE} concurrent reviews one is stored; the others and later ones are rejected`, async () => {
  const { agent, byBuyer } = await makeWork()
  const replies = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, n) => byBuyer({ rating: (n % 5) + 1 })),
  )
  const [stands, ...more] = replies.filter(({ status }) => status === 201)
  expect(more).toEqual([])
  for (const reply of replies) if (reply !== stands) rejected(reply, 409, 'already_reviewed')
  rejected(await byBuyer(GOOD), 409, 'already_reviewed')
  const page = (await market.client().get(`/api/agents/${agent.id}`)).body.data
  expect(page).toMatchObject({
    reviews: [stands?.body.data],
    stats: { review_count: 1, avg_rating: stands?.body.data.rating },
  })
})
