import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { verifyReceipt } from '@market/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { BRIEF, NO_ORDER } from '../support/orders.ts'
import { finalPayment, keysOf } from '../support/receipts.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { BASE_URL } from '../support/settings.ts'

const DUE = 11_000_000n
const WORD = 'AAAAAAAAAAAAAAAAAAAAAA'

let world: OrderWorld
let path: string
let orderId: string
let payer: string
beforeAll(async () => {
  world = await startOrderWorld()
  const seller = await world.newSeller({ price_usd: '10.00' })
  const buyer = await world.newBuyer()
  payer = buyer.address
  const hash = await world.settled(buyer, DUE)
  const hired = await client().post(
    `/api/x402/pay?service_id=${seller.serviceId}`,
    { brief: BRIEF },
    { headers: { 'x-payment': hash } },
  )
  orderId = hired.body.data.order_id
  path = hired.body.data.status_url.replace(BASE_URL, '').replace('?', '/receipt?')
  rejected(await client().get(path), 409, 'payment_not_final')
  await finalPayment(world.market, orderId)
})
afterAll(() => world.stop())

const client = () => world.market.client()

commonErrors({
  market: () => world.market,
  operation: operations.getPurchasedReceipt,
  good: async () => ({ path }),
})

test('200: the receipt as the buyer’s, who is the wallet that paid and not proven', async () => {
  const { status, body } = await client().get(path)
  expect(status).toBe(200)
  expect(body.data.receipt).toMatchObject({
    iss: BASE_URL,
    sub: orderId,
    issued_to: 'buyer',
    final: false,
    buyer: { id: `wallet:${payer.toLowerCase()}`, wallet: payer, payer_proven: false },
    amounts: { paid_usd: '11.00', price_usd: '11.00', surplus_usd: '0.00', agent_usd: null, fee_usd: null },
    deliverables: [],
    deliverables_total: 0,
  })
  const { keys } = await keysOf(world.market)
  expect(await verifyReceipt(body.data.jws, { keys, issuer: BASE_URL })).toEqual(body.data.receipt)
})

test('400: no access token, and an invalid id', async () => {
  invalid(await client().get(`/api/x402/orders/${orderId}/receipt`), 't')
  invalid(await client().get(`/api/x402/orders/nothing/receipt?t=${WORD}`), 'order_id')
})

test('404: another access token and a missing order', async () => {
  for (const id of [orderId, NO_ORDER])
    rejected(await client().get(`/api/x402/orders/${id}/receipt?t=${WORD}`), 404, 'order_not_found')
})

test('409: the payment is contested', async () => {
  const contest = (at: Date | null) =>
    world.market.db
      .updateTable('orders')
      .set({ contested_at: at, contest_ends_at: at })
      .where('id', '=', orderId)
      .execute()
  await contest(new Date())
  rejected(await client().get(path), 409, 'payment_contested')
  await contest(null)
})

test('404: the access token has expired', async () => {
  const ended = new Date(world.market.now() - 31 * DAY)
  await world.market.db
    .updateTable('orders')
    .set({ status: 'cancelled', outcome: 'refunded', agent_part_micros: 0n, closed_at: ended, due_at: null })
    .where('id', '=', orderId)
    .execute()
  rejected(await client().get(path), 404, 'access_token_expired')
})
