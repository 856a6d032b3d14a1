import { createHash } from 'node:crypto'
import { HOUR } from '@market/kernel/clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DELIVERY, type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'
import { APP_URL } from '../support/settings.ts'

/** A payment and a credential: the order is placed for the caller, who reviews the delivery. */

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

const payerPurpose = (hash: string): string => {
  const words = createHash('sha256').update(BRIEF).digest('hex')
  return `x402.pay:base-mainnet:${hash}:${seller.serviceId}:${words}`
}

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
  const reply = await send(payerPurpose(hash))
  expect(reply.status).toBe(201)
  const row = await rowOf(reply.body.data.order_id)
  expect(row).toMatchObject({ payer_proven: true, for_principal: false })
})

test.each([
  ['for the order', () => `orders.create:${seller.serviceId}`],
  ['for the payment', (hash: string) => payerPurpose(hash)],
] as const)(
  'an access token and a signature of the payer %s: the order is the user’s, and the payer is proven',
  async (_name, purposeOf) => {
    const { buyer, hash } = await paid()
    const { sub, token } = await makeUser(world.market)
    const reply = await client().post(
      '/api/orders',
      { ...body(), ...(await buyer.proof(purposeOf(hash))) },
      { bearer: token, headers: { 'x-payment': hash } },
    )
    expect(reply.status).toBe(201)
    expect(await rowOf(reply.body.data.order_id)).toMatchObject({
      buyer: `user:${sub}`,
      for_principal: true,
      payer_proven: true,
    })
  },
)

test('401 bad_signature: an access token beside a signature that is neither for the order nor for the payment', async () => {
  const { buyer, hash } = await paid()
  const { token } = await makeUser(world.market)
  const order = { ...body(), ...(await buyer.proof('session')) }
  const ask = { bearer: token, headers: { 'x-payment': hash } }
  rejected(await client().post('/api/orders', order, ask), 401, 'bad_signature', {
    expected_purpose: payerPurpose(hash),
  })
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

const routes = () =>
  [
    ['POST', '/api/x402/pay'],
    ['POST', '/api/x402/v1/pay'],
    ['POST', '/api/x402/discover'],
    ['GET', '/api/x402/discover'],
    ['GET', `/api/x402/discover/${seller.serviceId}`],
  ] as const

describe('routes that sell', () => {
  type Ask = Readonly<{ bearer?: string; headers?: Record<string, string> }>
  const query = () => new URLSearchParams({ service_id: seller.serviceId, brief: BRIEF })
  const buy = async (
    [method, path]: ReturnType<typeof routes>[number],
    hash: string | undefined,
    { bearer, headers }: Ask,
  ) => {
    const payment = hash === undefined ? {} : { 'x-payment': hash }
    const reply = await client().send(method, `${path}?${query()}`, {
      headers: { ...headers, ...payment },
      ...(bearer !== undefined && { bearer }),
    })
    const id = String(reply.body['order_id'] ?? reply.body.data?.order_id)
    return { reply, id }
  }

  test('an access token beside a payment places the order for its user, who reviews the delivery', async () => {
    const { sub, token } = await makeUser(world.market)
    for (const route of routes()) {
      const { hash } = await paid()
      const { reply, id } = await buy(route, hash, { bearer: token })
      expect([route, reply.status]).toEqual([route, 200])
      expect(await rowOf(id)).toMatchObject({ buyer: `user:${sub}`, for_principal: true })
      const delivered = await client().post(`/api/orders/${id}/deliver`, DELIVERY, { bearer: seller.apiKey })
      expect(delivered.body.data.status).toBe('delivered')
      const left = Date.parse(delivered.body.data.review_ends_at) - world.market.now()
      expect(left).toBeGreaterThan(47 * HOUR)
    }
  })

  test('an API key, a cookie of our own pages and a wallet’s signature place the order for their caller', async () => {
    const agent = await makeOwnedAgent(world.market)
    const { sub, token } = await makeUser(world.market)
    const { buyer } = await paid()
    const signature = await buyer.headers(`orders.create:${seller.serviceId}`)
    const cases: readonly (readonly [string, Ask])[] = [
      [`agent:${agent.id}`, { bearer: agent.apiKey }],
      [`user:${sub}`, { headers: { cookie: `idp-token=${token}`, origin: APP_URL } }],
      [`wallet:${buyer.address.toLowerCase()}`, { headers: signature }],
    ]
    for (const [name, ask] of cases) {
      const { id } = await buy(['POST', '/api/x402/pay'], await world.settled(buyer, DUE), ask)
      expect(await rowOf(id)).toMatchObject({ buyer: name, for_principal: true })
    }
  })

  test('the payer’s signature proves the payment, alone and beside an API key', async () => {
    const agent = await makeOwnedAgent(world.market)
    for (const bearer of [undefined, agent.apiKey]) {
      const { buyer, hash } = await paid()
      const headers = await buyer.headers(payerPurpose(hash))
      const { id } = await buy(['POST', '/api/x402/pay'], hash, { headers, ...(bearer && { bearer }) })
      const name = bearer === undefined ? `wallet:${buyer.address.toLowerCase()}` : `agent:${agent.id}`
      expect(await rowOf(id)).toMatchObject({
        buyer: name,
        payer_proven: true,
        for_principal: bearer !== undefined,
      })
    }
  })

  test('without a payment a valid credential gets the price, a wrong one 401, and a cookie of another site is ignored', async () => {
    const { token } = await makeUser(world.market)
    const foreign = { cookie: `idp-token=${token}`, origin: 'https://elsewhere.example' }
    for (const route of routes()) {
      expect((await buy(route, undefined, { bearer: token })).reply.status).toBe(402)
      expect((await buy(route, undefined, { headers: foreign })).reply.status).toBe(402)
      rejected((await buy(route, undefined, { bearer: 'not.a.token' })).reply, 401, 'bad_token')
    }
  })
})

test('a short Idempotency-Key is accepted with a credential, and returns the access token to its caller only', async () => {
  const { hash } = await paid()
  const [first, other] = [await makeOwnedAgent(world.market), await makeOwnedAgent(world.market)]
  const headers = { 'x-payment': hash, 'idempotency-key': '1' }
  const order = (ask: { bearer?: string }) => client().post('/api/orders', body(), { ...ask, headers })
  rejected(await order({}), 400, 'bad_idempotency_key')
  const bought = await order({ bearer: first.apiKey })
  expect([bought.status, bought.body.data.status_url]).toEqual([201, expect.stringContaining('?t=')])
  expect((await order({ bearer: first.apiKey })).body).toEqual(bought.body)
  const theirs = await order({ bearer: other.apiKey })
  expect(theirs.status).toBe(409)
  expect(JSON.stringify(theirs.body)).not.toContain('?t=')
})
