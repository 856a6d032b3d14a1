import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { BRIEF, NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { BASE_URL } from '../support/settings.ts'

const DUE = 11_000_000n
const WORD = 'AAAAAAAAAAAAAAAAAAAAAA'

let world: OrderWorld
let path: string
let orderId: string
beforeAll(async () => {
  world = await startOrderWorld()
  const seller = await world.newSeller({ price_usd: '10.00' })
  const buyer = await world.newBuyer()
  const hash = await world.settled(buyer, DUE)
  const hired = await client().post(
    `/api/x402/pay?service_id=${seller.serviceId}`,
    { brief: BRIEF },
    { headers: { 'x-payment': hash } },
  )
  orderId = hired.body.data.order_id
  path = hired.body.data.status_url.replace(BASE_URL, '')
})
afterAll(() => world.stop())

const client = () => world.market.client()

commonErrors({
  market: () => world.market,
  operation: operations.getPurchasedOrder,
  good: async () => ({ path }),
})

test('200: the order, with its access token', async () => {
  const { status, body } = await client().get(path)
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    order: {
      id: orderId,
      status: 'paid',
      brief: BRIEF,
      payment_method: 'x402',
      price_usd: '11.00',
      agent_usd: '10.00',
      fee_usd: '1.00',
      payment: [],
    },
    deliverables: [],
    review: null,
    // The access token only reads.
    acts: [],
    pending_payment: null,
    payment_final: false,
    agent_paid: false,
    viewer_role: 'buyer',
    payout: null,
    refund: null,
  })
})

test('400: no access token, and an invalid id', async () => {
  invalid(await client().get(`/api/x402/orders/${orderId}`), 't')
  invalid(await client().get(`/api/x402/orders/nothing?t=${WORD}`), 'order_id')
})

test('404: another access token, a missing order, and an order without an x402 purchase', async () => {
  const { buyer, seller } = await world.newParties()
  const other = await world.order(buyer, seller.serviceId)
  for (const id of [orderId, NO_ORDER, other.body.data.id])
    rejected(await client().get(`/api/x402/orders/${id}?t=${WORD}`), 404, 'order_not_found')
})
