import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { makeAgentWithService, makeOrderIn } from '../support/order-in-state.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `ord_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (orderId: string, query = '') => `/api/orders/${orderId}/messages${query}`
const list = (orderId: string, ask: RequestOptions, query = '') =>
  market.client().get(pathOf(orderId, query), ask)

/** A thread of as many words, from either side in turn. */
async function makeThread(words = 0) {
  const { agent, service } = await makeAgentWithService(market)
  const order = await makeOrderIn(market, service, 'in_progress')
  const buyer: RequestOptions = { headers: order.headers }
  const byBuyer = async () => ({ headers: await order.sign(`orders.message:${order.id}`) })
  const seller: RequestOptions = { bearer: agent.apiKey }
  for (let n = 0; n < words; n++) {
    const reply = await market
      .client()
      .post(pathOf(order.id), { content: `word ${n}` }, n % 2 === 0 ? await byBuyer() : seller)
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
  }
  return { id: order.id, agent, buyer, seller }
}

const wordsOf = (data: { content: string }[]) => data.map(({ content }) => content)

const subject: Subject = {
  market: () => market,
  operation: operations.listMessages,
  good: async () => {
    const { id, seller } = await makeThread()
    return { path: pathOf(id), ask: seller }
  },
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(MISSING))

test('200: an empty list for an order without messages', async () => {
  const { id, buyer } = await makeThread()
  const { status, body } = await list(id, buyer)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: [], next_cursor: null })
})

test('200: newest first, with the same response for both parties, the owner and operators', async () => {
  const { id, agent, buyer, seller } = await makeThread(3)
  const owner = await makeUser(market, { wallets: [agent.owner.address] })
  const { body } = await list(id, buyer)
  expect(body.data).toMatchObject([
    { order_id: id, sender_type: 'client', content: 'word 2' },
    { order_id: id, sender_type: 'agent', sender_name: agent.name, content: 'word 1' },
    { order_id: id, sender_type: 'client', content: 'word 0' },
  ])
  const readers = [seller.bearer, owner.token, ADMIN_KEY, await operatorToken(market)]
  for (const bearer of readers)
    expect((await list(id, bearer === undefined ? {} : { bearer })).body).toEqual(body)
})

test('200: each page continues after the previous one', async () => {
  const { id, buyer } = await makeThread(5)
  const first = await list(id, buyer, '?limit=3')
  const second = await list(id, buyer, `?limit=3&cursor=${first.body.next_cursor}`)
  expect([...wordsOf(first.body.data), ...wordsOf(second.body.data)]).toEqual(
    [4, 3, 2, 1, 0].map((n) => `word ${n}`),
  )
  expect(second.body.next_cursor).toBeNull()
})

test('400: an invalid limit, cursor or order id', async () => {
  const { id, buyer } = await makeThread()
  for (const limit of ['0', '101', 'all']) invalid(await list(id, buyer, `?limit=${limit}`), 'limit')
  for (const cursor of [
    'x',
    forgeCursor(['messages', 1, 'ord_1_00000000000000000']),
    forgeCursor(['messages', 1, 'msg_1_0']),
    forgeCursor(['reviews', 1, 'msg_1_00000000000000000']),
  ])
    invalid(await list(id, buyer, `?cursor=${cursor}`), 'cursor')
  invalid(await list('order_1', buyer), 'order_id')
})

test('403: a cross-site request with a cookie', async () => {
  const { id } = await makeThread()
  const cookie = `idp-token=${(await makeUser(market)).token}`
  rejected(await list(id, { headers: { cookie, 'sec-fetch-site': 'cross-site' } }), 403, 'cross_site')
})

test('404: the same message for an order of other parties and a missing order', async () => {
  const { id } = await makeThread(1)
  const otherUser = await makeUser(market)
  const other = await makeOwnedAgent(market)
  for (const orderId of [id, MISSING])
    for (const bearer of [otherUser.token, other.apiKey]) {
      const reply = await list(orderId, { bearer })
      rejected(reply, 404, 'order_not_found')
      expect(reply.body.error).toBe(`Order ${JSON.stringify(orderId)} does not exist.`)
    }
})
