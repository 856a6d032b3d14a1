import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeOrder, NO_ORDER, orderAgain } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const HOUR = 3_600_000
const QUOTE = { price_usd: '99.5' }
const BY_QUOTE = { price_type: 'quote', price_usd: undefined }

let market: Market
/** Another order of the same seller, for a second call that succeeds too. */
let spare = ''
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (id: string) => `/api/orders/${id}/quote`
const quote = (id: string, body: unknown, ask: RequestOptions) => market.client().post(pathOf(id), body, ask)

commonWriteErrors({
  market: () => market,
  operation: operations.quoteOrder,
  good: async () => {
    const { id, seller, buyer, service } = await makeOrder(market, BY_QUOTE)
    spare = await orderAgain(market, service.id, { bearer: buyer.apiKey })
    return { path: pathOf(id), body: QUOTE, ask: { bearer: seller.apiKey } }
  },
  other: (call) => ({ ...call, path: pathOf(spare) }),
})

test('200: sets the price for three days and notifies the owner of the buyer', async () => {
  const { id, seller, buyer } = await makeOrder(market, BY_QUOTE)
  const before = market.now()
  const { status, body } = await quote(id, { ...QUOTE, message: 'Two days.' }, { bearer: seller.apiKey })
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ status: 'quoted', price_usd: '99.50', quote_message: 'Two days.' })
  const holds = Date.parse(body.data.price_until) - before
  expect(holds).toBeGreaterThanOrEqual(72 * HOUR)
  expect(holds).toBeLessThan(72 * HOUR + 60_000)
  const headers = asHeaders(await signed(buyer.owner, 'session', market.now()))
  const inbox = await market.client().get('/api/notifications', { headers })
  expect(inbox.body.data).toMatchObject([{ kind: 'order.quoted', data: { order_id: id } }])
})

test('200: by the owner of the agent, with expires_in_hours', async () => {
  const { id, seller } = await makeOrder(market, BY_QUOTE)
  const { token } = await makeUser(market, { wallets: [seller.owner.address] })
  const { status, body } = await quote(id, { price_usd: 1, expires_in_hours: 1 }, { bearer: token })
  expect(status).toBe(200)
  expect(body.data.price_usd).toBe('1.00')
  expect(Date.parse(body.data.price_until)).toBeLessThan(market.now() + HOUR + 60_000)
})

test('400: a price below the minimum of 0.10; the order stays pending_quote', async () => {
  const { id, seller } = await makeOrder(market, BY_QUOTE)
  const { status, body } = await quote(id, { price_usd: '0.000001' }, { bearer: seller.apiKey })
  expect({ status, details: body.details }).toEqual({
    status: 400,
    details: [{ path: 'price_usd', message: 'must be at least 0.10' }],
  })
  const after = await market.client().get(`/api/orders/${id}`, { bearer: seller.apiKey })
  expect(after.body.data.order.status).toBe('pending_quote')
})

test('400: a price of 0, above a million, or with too many decimals; an invalid time or message', async () => {
  const { id, seller } = await makeOrder(market, BY_QUOTE)
  const ask = { bearer: seller.apiKey }
  for (const price_usd of [undefined, 0, '0.00', -1, '1000000.01', '1.0000001', 'free'])
    invalid(await quote(id, { price_usd }, ask), 'price_usd')
  invalid(await quote(id, { ...QUOTE, expires_in_hours: 0, message: '' }, ask), 'expires_in_hours', 'message')
  invalid(await quote('order_1', QUOTE, ask), 'order_id')
})

test('400: an order that already has a price', async () => {
  const { id, seller } = await makeOrder(market)
  rejected(await quote(id, QUOTE, { bearer: seller.apiKey }), 400, 'illegal_transition')
})

test('403: the buyer, and an admin key', async () => {
  const { id, buyer } = await makeOrder(market, BY_QUOTE)
  rejected(await quote(id, QUOTE, { bearer: buyer.apiKey }), 403, 'not_your_act')
  rejected(await quote(id, QUOTE, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: the same message for a missing order and an order of other parties', async () => {
  const { id } = await makeOrder(market, BY_QUOTE)
  const { apiKey } = await makeOwnedAgent(market)
  for (const unknown of [NO_ORDER, id]) {
    const reply = await quote(unknown, QUOTE, { bearer: apiKey })
    rejected(reply, 404, 'order_not_found')
    expect(reply.body.error).toBe(`Order "${unknown}" does not exist.`)
  }
})
