import { createHash } from 'node:crypto'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { makeBounty } from '../support/bounties.ts'
import { asHeaders, signed } from '../support/makers.ts'
import { BASE_URL } from '../support/settings.ts'

/** Purchases by transfer: the buyer sends USDC and puts the transaction hash in `X-PAYMENT`. */

const BRIEF = 'Read the branch called blue.'
/** 10.00 plus the fee. */
const DUE = 11_000_000n
const NOTHING = `0x${'ab'.repeat(32)}`

let world: OrderWorld
let seller: Awaited<ReturnType<OrderWorld['newSeller']>>
let buyer: Awaited<ReturnType<OrderWorld['newBuyer']>>
beforeAll(async () => {
  world = await startOrderWorld()
  seller = await world.newSeller({ price_usd: '10.00' })
  buyer = await world.newBuyer()
})
afterAll(() => world.stop())

const client = () => world.market.client()
const payPath = (id = seller.serviceId) => `/api/x402/pay?service_id=${id}`

const hire = (
  hash: string,
  body: Record<string, unknown> = { brief: BRIEF },
  headers: Record<string, string> = {},
) => client().post(payPath(), body, { headers: { 'x-payment': hash, ...headers } })

const ordersOf = async (hash: string) =>
  world.market.db.selectFrom('orders').selectAll().where('payment_reference', '=', hash).execute()

const eventsOf = async (orderId: string) =>
  (
    await world.market.db
      .selectFrom('events')
      .select(['event', 'data'])
      .where('order_id', '=', orderId)
      .execute()
  ).map(({ event, data }) => [event, data])

test('returns 402 with the requirement of the spec on every route', async () => {
  const body = {
    x402Version: 1,
    accepts: [
      {
        version: '1',
        scheme: 'exact',
        network: 'base-mainnet',
        asset: { currency: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
        payTo: world.treasury,
        maxAmountRequired: '11000000',
        description: `Reviews a pull request (${seller.serviceId})`,
        resource: `${BASE_URL}/api/x402/discover/${seller.serviceId}`,
      },
    ],
  }
  const asked = [
    await client().get(`/api/x402/discover/${seller.serviceId}`),
    await client().post(`/api/x402/discover/${seller.serviceId}`, { brief: BRIEF }),
    await client().get(`/api/x402/discover?service_id=${seller.serviceId}`),
    await client().post(payPath(), { brief: BRIEF }),
  ]
  for (const reply of asked) {
    expect(reply.status).toBe(402)
    const { proof, ...rest } = reply.body
    expect(rest).toEqual(body)
    expect(proof).toMatchObject({
      hash: { payout_wait_hours: 168, contest_minutes: 15, refund_after_days: 7, max_age_seconds: 3_600 },
      signature: { purpose: expect.stringContaining(seller.serviceId) },
    })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('x-ratelimit-limit')).toMatch(/^(600|30)$/)
  }
})

test('a purchase creates a paid order, one order.paid event and an access token that can read it', async () => {
  const hash = await world.settled(buyer, DUE)
  const reply = await hire(hash)
  expect(reply.status).toBe(200)
  const { order_id, status, status_url } = reply.body.data
  expect(reply.body).toEqual({ success: true, data: { order_id, status, status_url } })
  expect(status).toBe('paid')
  const settled = JSON.parse(atob(reply.headers.get('payment-response') ?? ''))
  expect(settled).toMatchObject({ success: true, transaction: hash, payer: buyer.address.toLowerCase() })
  expect(await eventsOf(order_id)).toEqual([
    [
      'order.created',
      {
        service_id: seller.serviceId,
        brief: BRIEF,
        status: 'paid',
        service_title: 'Reviews a pull request',
        payment_method: 'x402',
      },
    ],
  ])

  const path = status_url.replace(BASE_URL, '')
  const page = await client().get(path)
  expect(page.status).toBe(200)
  expect(page.body.data.order).toMatchObject({
    id: order_id,
    status: 'paid',
    payment_method: 'x402',
    brief: BRIEF,
  })
  expect((await client().get(path.replace(/t=.{6}/, 't=AAAAAA'))).status).toBe(404)
  expect((await client().get(path.replace(/\?.*/, ''))).status).toBe(400)
})

test('deliver: completes a purchased order, credits the agent its price and the platform its fee', async () => {
  const hash = await world.settled(buyer, DUE)
  const { order_id } = (await hire(hash)).body.data
  const delivered = await world.deliver(seller.apiKey, order_id)
  expect(delivered.body.data).toMatchObject({ status: 'completed', outcome: 'released' })
  const { db } = world.market
  const payout = await db
    .selectFrom('payouts')
    .selectAll()
    .where('subject', '=', order_id)
    .executeTakeFirstOrThrow()
  expect(payout).toMatchObject({ kind: 'payout', amount_micros: 10_000_000n, notified_agent: seller.id })
  const accounts = await db
    .selectFrom('ledger_accounts')
    .selectAll()
    .where('subject', '=', `order:${order_id}`)
    .execute()
  expect(accounts.map(({ balance_micros }) => balance_micros)).toEqual([0n])
  expect((await eventsOf(order_id)).map(([event]) => event)).toEqual(['order.created', 'order.completed'])
})

test('the same payment, brief and key return the same order; another brief contests it', async () => {
  const hash = await world.settled(buyer, DUE)
  const key = { 'idempotency-key': 'a-key-of-the-buyer-that-nobody-guesses' }
  const replies = await Promise.all(Array.from({ length: 8 }, () => hire(hash, { brief: BRIEF }, key)))
  expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(new Set(replies.map(({ body }) => body.data.order_id)).size).toBe(1)
  expect(replies.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(7)
  expect(await ordersOf(hash)).toHaveLength(1)

  const byGet = await client().get(
    `/api/x402/discover/${seller.serviceId}?brief=${encodeURIComponent(` ${BRIEF} `)}`,
    { headers: { 'x-payment': hash.toUpperCase().replace('0X', '0x'), ...key } },
  )
  expect(byGet.status).toBe(200)
  expect(byGet.body).toEqual({
    order_id: replies[0]?.body.data.order_id,
    status: 'paid',
    result_url: replies[0]?.body.data.status_url,
  })
  const withoutKey = await hire(hash)
  expect([withoutKey.status, withoutKey.body.code]).toEqual([409, 'payment_already_used'])
  const other = await hire(hash, { brief: 'Something else.' })
  expect(other.status).toBe(409)
  expect(other.body.code).toBe('payment_contested')
  expect(JSON.stringify(other.body)).not.toContain('ord_')
})

test('replay: without an Idempotency-Key only the payer’s signature returns the access token again', async () => {
  const hash = await world.settled(buyer, DUE)
  const first = await hire(hash)
  expect(first.body.data.status_url).toContain('?t=')
  const again = await hire(hash)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(again.body.data.status_url).not.toContain('?t=')
  const signedAgain = await hire(hash, { brief: BRIEF }, await ownSignature(hash))
  expect(signedAgain.body.data).toEqual(first.body.data)
})

test('one payment for two services of equal price buys only the first requested', async () => {
  const twin = await world.newSeller({ price_usd: '10.00' })
  const hash = await world.settled(buyer, DUE)
  const replies = await Promise.all([
    hire(hash),
    client().post(payPath(twin.serviceId), { brief: BRIEF }, { headers: { 'x-payment': hash } }),
  ])
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
  expect(await ordersOf(hash)).toHaveLength(1)
})

test('a transfer that pays an order, or is pending for one, is rejected for a purchase', async () => {
  const order = await world.order(buyer, seller.serviceId)
  const hash = await world.settled(buyer, DUE)
  await world.act(buyer, order.body.data.id, 'pay', { escrow_tx_hash: hash })
  expect((await hire(hash)).status).toBe(409)
})

test('returns 400 before querying the chain: no brief, two payments, malformed payment', async () => {
  const hash = await world.settled(buyer, DUE)
  expect(await hire(hash, {})).toMatchObject({ status: 400, body: { code: 'brief_required' } })
  expect(await hire(hash, { brief: '  ' })).toMatchObject({ status: 400, body: { code: 'brief_required' } })
  for (const headers of [
    { 'x-payment': hash, 'payment-signature': 'eyJ4NDAyVmVyc2lvbiI6Mn0=' },
    { 'x-payment': 'no payment' },
    { 'x-payment': `${hash}, ${hash}` },
    { 'x-payment': 'a'.repeat(12_001) },
    { 'x-payment': hash, 'x-payment-network': 'solana-mainnet' },
    { 'x-payment': hash, 'x-payment-network': 'doge' },
  ])
    expect(await client().post(payPath(), { brief: BRIEF }, { headers })).toMatchObject({
      status: 400,
      body: { code: 'malformed_payment' },
    })
  expect((await hire(hash)).status).toBe(200)
})

test('returns 402 with the reason and leaves the payment unused: underpaid, unknown, old, failed, other token', async () => {
  const short = await world.settled(buyer, DUE - 1n)
  expect(await hire(short)).toMatchObject({ status: 402, body: { x402Version: 1, error: 'underpaid' } })
  const nowhere = await client().post(payPath(), { brief: BRIEF }, { headers: { 'x-payment': NOTHING } })
  expect(nowhere).toMatchObject({ status: 402, body: { error: 'transaction_not_found_yet' } })
  expect(nowhere.headers.get('retry-after')).toBe('3')
})

test('returns 404 for a service that does not exist, is not active or has no fixed price', async () => {
  const quoted = await world.newSeller({ price_type: 'quote', price_usd: undefined })
  const missing = 'svc_1700000000000_00000000000000000'
  expect(await client().get(`/api/x402/discover/${missing}`)).toMatchObject({ status: 404 })
  expect(await client().get(`/api/x402/discover/${quoted.serviceId}`)).toMatchObject({
    status: 404,
    body: { code: 'not_payable' },
  })
})

test('POST /api/orders with a payment is a purchase', async () => {
  const hash = await world.settled(buyer, DUE)
  const body = { service_id: seller.serviceId, brief: BRIEF }
  const reply = await client().post('/api/orders', body, { headers: { 'x-payment': hash } })
  expect(reply.status).toBe(201)
  expect(reply.body.data).toMatchObject({ status: 'paid' })
  expect(await ordersOf(hash)).toMatchObject([{ payment_method: 'x402', status: 'paid' }])
})

/** The payer's own signature for this payment and this purchase. */
async function ownSignature(hash: string, serviceId = seller.serviceId, who = buyer) {
  const words = createHash('sha256').update(BRIEF).digest('hex')
  const purpose = `x402.pay:base-mainnet:${hash}:${serviceId}:${words}`
  return asHeaders(await signed(who, purpose))
}

test('surplus: a transfer above the price buys unbound, and the surplus is refunded to the payer', async () => {
  const hash = await world.settled(buyer, DUE + 500_000n)
  const { order_id } = (await hire(hash)).body.data
  const payouts = await world.market.db
    .selectFrom('payouts')
    .select(['kind', 'amount_micros', 'payee'])
    .where('subject', 'like', `${order_id}:surplus%`)
    .execute()
  expect(payouts).toEqual([{ kind: 'surplus', amount_micros: 500_000n, payee: buyer.address.toLowerCase() }])
})

/** A transfer with the reference of a quote after its arguments. */
async function payWith(reference: string, amount: bigint): Promise<string> {
  const args = [world.treasury, amount] as const
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  const data = `${call}${Buffer.from(reference, 'base64url').toString('hex')}` as Hex
  const hash = await world.chain.call(buyer.account, world.chain.usdc, data)
  await world.chain.mine(2)
  return hash
}

test('a payment with a quote’s reference can be used only with the claim', async () => {
  const quote = await client().get(`/api/x402/discover/${seller.serviceId}`)
  const reference = quote.headers.get('x-market-payment-reference') ?? ''
  const claim = quote.headers.get('x-market-payment-claim') ?? ''
  const hash = await payWith(reference, DUE)
  expect(await hire(hash)).toMatchObject({ status: 402, body: { error: 'claim_required' } })
  const wrong = await hire(hash, { brief: BRIEF }, { 'x-payment-claim': 'AAAAAAAAAAAAAAAAAAAAAA' })
  expect(wrong).toMatchObject({ status: 402, body: { error: 'claim_required' } })
  const twin = await world.newSeller({ price_usd: '10.00' })
  const elsewhere = await client().post(
    payPath(twin.serviceId),
    { brief: BRIEF },
    { headers: { 'x-payment': hash, 'x-payment-claim': claim } },
  )
  expect(elsewhere).toMatchObject({ status: 402, body: { error: 'reference_of_another_quote' } })
  expect((await hire(hash, { brief: BRIEF }, { 'x-payment-claim': claim })).status).toBe(200)
})

test('a payment of a quote buys at the quoted price after the price changed', async () => {
  for (const [now, more] of [
    ['20.00', 0n],
    ['5.00', 0n],
    ['20.00', 2_000_000n],
  ] as const) {
    const { serviceId, apiKey } = await world.newSeller({ price_usd: '10.00' })
    const { headers } = await client().get(`/api/x402/discover/${serviceId}`)
    const given = (name: string) => headers.get(`x-market-payment-${name}`) ?? ''
    const changed = await client().patch(
      `/api/services/${serviceId}`,
      { price_usd: now },
      { headers: { authorization: `Bearer ${apiKey}` } },
    )
    expect(changed.status).toBe(200)
    const hash = await payWith(given('reference'), DUE + more)
    const reply = await client().post(
      payPath(serviceId),
      { brief: BRIEF },
      { headers: { 'x-payment': hash, 'x-payment-claim': given('claim') } },
    )
    expect(reply.status).toBe(200)
    expect(await ordersOf(hash)).toMatchObject([{ price_micros: DUE }])
  }
  const cheap = await world.newSeller({ price_usd: '10.00' })
  const { headers } = await client().get(`/api/x402/discover/${cheap.serviceId}`)
  const short = await payWith(headers.get('x-market-payment-reference') ?? '', DUE - 1n)
  const claim = { 'x-payment': short, 'x-payment-claim': headers.get('x-market-payment-claim') ?? '' }
  const rejected = await client().post(payPath(cheap.serviceId), { brief: BRIEF }, { headers: claim })
  expect(rejected).toMatchObject({ status: 402, body: { error: 'underpaid' } })
})

test('a payment with a quote’s reference buys a service that was deactivated meanwhile', async () => {
  const { serviceId, apiKey } = await world.newSeller({ price_usd: '10.00' })
  const { headers } = await client().get(`/api/x402/discover/${serviceId}`)
  const given = (name: string) => headers.get(`x-market-payment-${name}`) ?? ''
  const hash = await payWith(given('reference'), DUE)
  const gone = await client().send('DELETE', `/api/services/${serviceId}`, { bearer: apiKey })
  expect(gone.status).toBe(200)
  const ask = (more: Record<string, string>) =>
    client().post(payPath(serviceId), { brief: BRIEF }, { headers: { 'x-payment': hash, ...more } })
  expect((await ask({})).status).toBe(404)
  expect((await ask({ 'x-payment-claim': 'AAAAAAAAAAAAAAAAAAAAAA' })).status).toBe(404)
  expect((await ask({ 'x-payment-claim': given('claim') })).status).toBe(200)
})

test('any amount buys unbound; a signature of another wallet is rejected', async () => {
  const dear = await world.newSeller({ price_usd: '30.00' })
  const hash = await world.settled(buyer, 33_000_000n)
  const ask = (headers: Record<string, string>) =>
    client().post(payPath(dear.serviceId), { brief: BRIEF }, { headers: { 'x-payment': hash, ...headers } })
  const stolen = await ownSignature(hash, dear.serviceId, await world.newBuyer())
  expect(await ask(stolen)).toMatchObject({ status: 402, body: { error: 'wrong_payer' } })
  expect((await ask({})).status).toBe(200)
})

/** Another user buys with the payer's transfer, which is public on the chain. */
async function steal(hash: string) {
  const attacker = await world.newSeller({ price_usd: '10.00' })
  const headers = { 'x-payment': hash }
  const stolen = await client().post(payPath(attacker.serviceId), { brief: 'For me.' }, { headers })
  expect(stolen.status).toBe(200)
  const id: string = stolen.body.data.order_id
  return { id, deliver: () => world.deliver(attacker.apiKey, id) }
}

const rowOf = (id: string) =>
  world.market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const balances = async (...ids: string[]) => {
  const subjects = ids.map((id) => `order:${id}`)
  const { db } = world.market
  const rows = await db.selectFrom('ledger_accounts').selectAll().where('subject', 'in', subjects).execute()
  return ids.map((id) => rows.find(({ subject }) => subject === `order:${id}`)?.balance_micros ?? 0n)
}

test('pay: naming the purchase’s own payment changes nothing', async () => {
  const payer = await world.newBuyer()
  const hash = await world.settled(payer, DUE)
  const { order_id } = (await hire(hash)).body.data
  const named = await world.act(payer, order_id, 'pay', { escrow_tx_hash: hash })
  expect([named.status, named.body.data.status]).toEqual([200, 'paid'])
  expect(await rowOf(order_id)).toMatchObject({ status: 'paid', payment_reference: hash })
  expect(await balances(order_id)).toEqual([DUE])
})

test('a payment that another user bought with pays the payer’s order', async () => {
  const payer = await world.newBuyer()
  const hash = await world.settled(payer, DUE)
  const { id: theirs } = await steal(hash)
  const own = await world.newSeller({ price_usd: '11.00' })
  const order = await world.order(payer, own.serviceId)
  const paid = await world.act(payer, order.body.data.id, 'pay', { escrow_tx_hash: hash })
  expect([paid.status, paid.body.data.status]).toEqual([200, 'paid'])
  expect(await rowOf(theirs)).toMatchObject({ status: 'cancelled', outcome: 'unpaid' })
  expect(await balances(theirs, order.body.data.id)).toEqual([0n, DUE])
  expect((await hire(hash, { brief: 'For me.' })).status).toBe(409)
})

test('payer binding: an open order of the payer requires the payer’s signature for a purchase', async () => {
  const payer = await world.newBuyer()
  const own = await world.newSeller({ price_usd: '11.00' })
  const order = await world.order(payer, own.serviceId)
  const hash = await world.settled(payer, DUE)
  const stolen = await hire(hash, { brief: 'For me.' })
  expect([stolen.status, stolen.body.error]).toEqual([402, 'binding_required'])
  const paid = await world.act(payer, order.body.data.id, 'pay', { escrow_tx_hash: hash })
  expect([paid.status, paid.body.data.status]).toEqual([200, 'paid'])
})

test('payer binding: an open bounty requires the signature when the payment could accept a claim, and not otherwise', async () => {
  const payer = await world.newBuyer()
  await makeBounty(world.market, { budget_usd: '10.000001' }, payer)
  expect((await hire(await world.settled(payer, DUE))).status).toBe(200)
  await makeBounty(world.market, { budget_usd: 10 }, payer)
  const hash = await world.settled(payer, DUE)
  const asked = await hire(hash, { brief: 'For me.' })
  expect([asked.status, asked.body.error]).toEqual([402, 'binding_required'])
  expect(asked.body['proof']).toMatchObject({
    hash: {
      signature_required_for: expect.arrayContaining([
        'a wallet with an open bounty that the transfer could pay',
      ]),
    },
  })
})

test('payer binding: an open order that costs more than the payment does not require a signature', async () => {
  const payer = await world.newBuyer()
  const dear = await world.newSeller({ price_usd: '11.01' })
  expect((await world.order(payer, dear.serviceId)).status).toBe(201)
  expect((await hire(await world.settled(payer, DUE))).status).toBe(200)
})

test('requirement answers that are too long for `brief` are shortened there and stored in full', async () => {
  const fields = ['One', 'Two'].map((label) => ({ label, type: 'textarea', required: true }))
  const asking = await world.newSeller({ price_usd: '10.00', requirement_fields: fields })
  const hash = await world.settled(buyer, DUE)
  const requirements = { One: 'a'.repeat(2_000), Two: 'b'.repeat(2_000) }
  const reply = await client().post(
    payPath(asking.serviceId),
    { requirements },
    { headers: { 'x-payment': hash } },
  )
  expect(reply.status).toBe(200)
  expect(await rowOf(reply.body.data.order_id)).toMatchObject({ requirement_answers: requirements })
  for (const odd of ['\u0000', '\ud800'])
    expect((await client().post(payPath(), { brief: BRIEF, requirements: { One: odd } })).status).toBe(400)
})
