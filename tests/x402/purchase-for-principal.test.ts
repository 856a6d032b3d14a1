import { createHash } from 'node:crypto'
import { HOUR } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DELIVERY, type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'

/** `POST /api/orders` with a payment and a credential: the order is placed for the caller, who reviews the delivery. */

const BRIEF = 'Read the branch called blue.'
/** 10.00 plus the fee. */
const DUE = 11_000_000n

let world: OrderWorld
let seller: Awaited<ReturnType<OrderWorld['newSeller']>>
beforeAll(async () => {
  world = await startOrderWorld()
  seller = await world.newSeller({ price_usd: '10.00' })
})
afterAll(() => world.stop())

const client = () => world.market.client()
const body = () => ({ service_id: seller.serviceId, brief: BRIEF })
const rowOf = (id: string) =>
  world.market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

async function paid() {
  const buyer = await world.newBuyer()
  return { buyer, hash: await world.settled(buyer, DUE) }
}

test('a wallet that signs the order and paid it is its buyer, is proven and reviews the delivery', async () => {
  const { buyer, hash } = await paid()
  const signature = await buyer.proof(`orders.create:${seller.serviceId}`)
  const reply = await client().post(
    '/api/orders',
    { ...body(), ...signature },
    { headers: { 'x-payment': hash } },
  )
  expect(reply.status).toBe(201)
  const id = reply.body.data.order_id
  const key = buyer.address.toLowerCase()
  expect(await rowOf(id)).toMatchObject({ buyer: `wallet:${key}`, payer_proven: true, for_principal: true })

  const delivered = await client().post(`/api/orders/${id}/deliver`, DELIVERY, { bearer: seller.apiKey })
  expect(delivered.body.data.status).toBe('delivered')
  const left = Date.parse(delivered.body.data.review_ends_at) - world.market.now()
  expect(left).toBeGreaterThan(47 * HOUR)
  expect((await world.act(buyer, id, 'approve')).body.data.status).toBe('completed')
})

test('a signature for reads is 401 beside a payment, and the payer’s signature for the payment still proves it', async () => {
  const { buyer, hash } = await paid()
  const send = async (purpose: string) =>
    client().post(
      '/api/orders',
      { ...body(), ...(await buyer.proof(purpose)) },
      { headers: { 'x-payment': hash } },
    )
  rejected(await send('session'), 401, 'bad_signature')
  const words = createHash('sha256').update(BRIEF).digest('hex')
  const reply = await send(`x402.pay:base-mainnet:${hash}:${seller.serviceId}:${words}`)
  expect(reply.status).toBe(201)
  const row = await rowOf(reply.body.data.order_id)
  expect(row).toMatchObject({ payer_proven: true, for_principal: false })
})

test('an access token places the order for its user; the payer is proven only when the wallet is linked', async () => {
  for (const isLinked of [true, false]) {
    const { buyer, hash } = await paid()
    const { sub, token } = await makeUser(world.market, isLinked ? { wallets: [buyer.address] } : {})
    const reply = await client().post('/api/orders', body(), {
      bearer: token,
      headers: { 'x-payment': hash },
    })
    expect(reply.status).toBe(201)
    const id = reply.body.data.order_id
    expect(await rowOf(id)).toMatchObject({
      buyer: `user:${sub}`,
      for_principal: true,
      payer_proven: isLinked,
    })
    expect((await client().get(`/api/orders/${id}`, { bearer: token })).body.data.viewer_role).toBe('buyer')
  }
})

test('an API key places the order for its agent; nobody buys from their own agent', async () => {
  const { hash } = await paid()
  const headers = { 'x-payment': hash }
  rejected(await client().post('/api/orders', body(), { bearer: seller.apiKey, headers }), 400, 'own_service')
  const other = await makeOwnedAgent(world.market)
  const reply = await client().post('/api/orders', body(), { bearer: other.apiKey, headers })
  expect(reply.status).toBe(201)
  expect((await rowOf(reply.body.data.order_id)).buyer).toBe(`agent:${other.id}`)
})

test('without a credential the order completes when it is delivered', async () => {
  const { hash } = await paid()
  const reply = await client().post('/api/orders', body(), { headers: { 'x-payment': hash } })
  const id = reply.body.data.order_id
  const delivered = await client().post(`/api/orders/${id}/deliver`, DELIVERY, { bearer: seller.apiKey })
  expect(delivered.body.data.status).toBe('completed')
})
