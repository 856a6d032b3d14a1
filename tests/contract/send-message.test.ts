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

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (orderId: string) => `/api/orders/${orderId}/messages`
const say = (orderId: string, body: unknown, ask: RequestOptions) =>
  market.client().post(pathOf(orderId), body, ask)

async function makeThread(status: Status = 'paid') {
  const { agent, service } = await makeAgentWithService(market)
  const { id, buyer, headers, sign } = await makeOrderIn(market, service, status)
  const byBuyer = async (body: unknown) => say(id, body, { headers: await sign(`orders.message:${id}`) })
  return { id, agent, buyer, headers, byBuyer }
}

commonWriteErrors({
  market: () => market,
  operation: operations.sendMessage,
  good: async () => {
    const { id, agent } = await makeThread()
    return { path: pathOf(id), body: { content: 'Hello' }, ask: { bearer: agent.apiKey } }
  },
  other: (call) => ({ ...call, body: { content: 'Good evening' } }),
})

const messageOf = (order_id: string, fields: Record<string, unknown>) => ({
  id: expect.stringMatching(/^msg_\d{13}_[0-9a-z]{17}$/),
  order_id,
  created_at: expect.stringMatching(INSTANT),
  ...fields,
})

test('201: a message of the buyer emits an event to the agent', async () => {
  const { id, agent, buyer, byBuyer } = await makeThread()
  const { status, body } = await byBuyer({ content: 'Is it blue?\nPlease.' })
  expect(status).toBe(201)
  const said = {
    sender_type: 'client',
    sender_name: `${buyer.address.slice(0, 6)}…${buyer.address.slice(-4)}`,
    content: 'Is it blue?\nPlease.',
  }
  expect(body).toEqual({ success: true, data: messageOf(id, said) })
  const events = await market.client().get('/api/events', { bearer: agent.apiKey })
  expect(events.body.data.at(-1)).toMatchObject({ event: 'order.message', order_id: id, data: said })
})

test('201: messages of the agent and its owner notify the buyer and emit no event', async () => {
  const { id, agent, headers } = await makeThread()
  const owner = await makeUser(market, { wallets: [agent.owner.address] })
  const ownWallet = await signOnce(market, agent.owner, `orders.message:${id}`)
  const asks = [{ bearer: agent.apiKey }, { bearer: owner.token }, { headers: ownWallet }]
  for (const [n, ask] of asks.entries()) {
    const { status, body } = await say(id, { content: `word ${n}` }, ask)
    expect(status).toBe(201)
    const said = { sender_type: 'agent', sender_name: agent.name, content: `word ${n}` }
    expect(body.data).toEqual(messageOf(id, said))
  }
  const words = await market.client().get('/api/notifications', { headers })
  expect(words.body.data).toMatchObject(
    [2, 1, 0].map((n) => ({ kind: 'order.message', body: `word ${n}`, data: { order_id: id } })),
  )
  const events = await market.client().get('/api/events', { bearer: agent.apiKey })
  expect(events.body.data.map(({ event }: { event: string }) => event)).toEqual(['order.created'])
})

test('201: a user who has linked the wallet that ordered writes with the user’s name', async () => {
  const { id, buyer } = await makeThread('completed')
  const { token } = await makeUser(market, { wallets: [buyer.address] })
  const { body } = await say(id, { content: 'Thank you' }, { bearer: token })
  expect(body.data).toMatchObject({ sender_type: 'client', sender_name: 'A Person' })
})

test('400: content that is empty, too long, missing or not a string', async () => {
  const { byBuyer } = await makeThread()
  for (const content of ['', 'x'.repeat(2001), 7, null, ['Hello'], 'Hel\u0000lo', 'Hel\u202elo'])
    invalid(await byBuyer({ content }), 'content')
  invalid(await byBuyer({}), 'content')
  expect((await byBuyer({ content: '𝕏'.repeat(2000) })).status).toBe(201)
})

test('400: thread_closed before the payment and after cancellation', async () => {
  for (const status of ['pending_quote', 'quoted', 'accepted', 'cancelled'] as const) {
    const { id, agent, byBuyer } = await makeThread(status)
    const byAgent = await say(id, { content: 'Hello' }, { bearer: agent.apiKey })
    for (const reply of [byAgent, await byBuyer({ content: 'Hello' })]) rejected(reply, 400, 'thread_closed')
  }
})

test('403: an admin key', async () => {
  const { id } = await makeThread()
  rejected(await say(id, { content: 'Hello' }, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: another user and an operator, who are not parties', async () => {
  const { id } = await makeThread()
  const otherUser = await makeUser(market)
  const other = await makeOwnedAgent(market)
  for (const bearer of [otherUser.token, other.apiKey, await operatorToken(market)])
    rejected(await say(id, { content: 'Hello' }, { bearer }), 404, 'order_not_found')
  const nobody = `ord_1700000000000_${'0'.repeat(17)}`
  rejected(await say(nobody, { content: 'Hello' }, { bearer: other.apiKey }), 404, 'order_not_found')
  expect(
    await market.db.selectFrom('order_messages').selectAll().where('order_id', '=', id).execute(),
  ).toEqual([])
})
