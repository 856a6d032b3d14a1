import { createHash } from 'node:crypto'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { asHeaders, signed } from '../support/makers.ts'
import { operatorToken } from '../support/operator.ts'
import { BASE_URL } from '../support/settings.ts'

/** A hire that is paid as the spec says: the buyer sends USDC, and names the transaction in `X-PAYMENT`. */

const BRIEF = 'Read the branch called blue.'
/** 10.00 and the fee on top. */
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

test('402: the spec’s requirement, field by field, at every door', async () => {
  const body = {
    x402Version: 1,
    accepts: [
      {
        version: '1',
        scheme: 'exact',
        network: 'base-mainnet',
        asset: { currency: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
        payTo: world.treasury.address,
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
    expect(reply.body).toEqual(body)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('x-ratelimit-limit')).toMatch(/^(600|30)$/)
  }
})

test('a paid hire is an order that is paid, told to its agent once, and read by who has its word', async () => {
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

test('delivered, a machine’s order is complete: the agent gets its price and the platform what came on top', async () => {
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

test('the same payment and the same words are the same hire; with other words it is rejected', async () => {
  const hash = await world.settled(buyer, DUE)
  const replies = await Promise.all(Array.from({ length: 8 }, () => hire(hash)))
  expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(new Set(replies.map(({ body }) => body.data.order_id)).size).toBe(1)
  expect(replies.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(7)
  expect(await ordersOf(hash)).toHaveLength(1)

  const byGet = await client().get(
    `/api/x402/discover/${seller.serviceId}?brief=${encodeURIComponent(` ${BRIEF} `)}`,
    { headers: { 'x-payment': hash.toUpperCase().replace('0X', '0x') } },
  )
  expect(byGet.status).toBe(200)
  expect(byGet.body).toEqual({
    order_id: replies[0]?.body.data.order_id,
    status: 'paid',
    result_url: replies[0]?.body.data.status_url,
  })
  const other = await hire(hash, { brief: 'Something else.' })
  expect(other.status).toBe(409)
  expect(other.body.code).toBe('payment_already_used')
  expect(JSON.stringify(other.body)).not.toContain('ord_')
})

test('one payment of two equal services buys one of them, whichever asks first', async () => {
  const twin = await world.newSeller({ price_usd: '10.00' })
  const hash = await world.settled(buyer, DUE)
  const replies = await Promise.all([
    hire(hash),
    client().post(payPath(twin.serviceId), { brief: BRIEF }, { headers: { 'x-payment': hash } }),
  ])
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
  expect(await ordersOf(hash)).toHaveLength(1)
})

test('a payment that pays an order, or waits for one, buys nothing else', async () => {
  const order = await world.order(buyer, seller.serviceId)
  const hash = await world.settled(buyer, DUE)
  await world.act(buyer, order.body.data.id, 'pay', { escrow_tx_hash: hash })
  expect((await hire(hash)).status).toBe(409)
})

test('400 before anything is looked at: no words, two payments, a form that is none', async () => {
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

test('402 with the reason, and the payment stays whole: short, unknown, old, failed, somebody else’s token', async () => {
  const short = await world.settled(buyer, DUE - 1n)
  expect(await hire(short)).toMatchObject({ status: 402, body: { x402Version: 1, error: 'underpaid' } })
  const nowhere = await client().post(payPath(), { brief: BRIEF }, { headers: { 'x-payment': NOTHING } })
  expect(nowhere).toMatchObject({ status: 402, body: { error: 'transaction_not_found_yet' } })
  expect(nowhere.headers.get('retry-after')).toBe('3')
}, 40_000)

test('404: a service that is not there, is not on offer, or has no fixed price', async () => {
  const quoted = await world.newSeller({ price_type: 'quote', price_usd: undefined })
  const missing = 'svc_1700000000000_00000000000000000'
  expect(await client().get(`/api/x402/discover/${missing}`)).toMatchObject({ status: 404 })
  expect(await client().get(`/api/x402/discover/${quoted.serviceId}`)).toMatchObject({
    status: 404,
    body: { code: 'not_payable' },
  })
})

test('an order that comes with its payment is a hire', async () => {
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
  return asHeaders(await signed(who, purpose, world.market.now()))
}

test('what was paid too much goes back to who paid, and only who paid can use it', async () => {
  const hash = await world.settled(buyer, DUE + 500_000n)
  expect(await hire(hash)).toMatchObject({ status: 402, body: { error: 'binding_required' } })
  const { order_id } = (await hire(hash, { brief: BRIEF }, await ownSignature(hash))).body.data
  const payouts = await world.market.db
    .selectFrom('payouts')
    .select(['kind', 'amount_micros', 'payee'])
    .where('subject', 'like', `${order_id}:surplus%`)
    .execute()
  expect(payouts).toEqual([{ kind: 'surplus', amount_micros: 500_000n, payee: buyer.address.toLowerCase() }])
})

/** A transfer that carries the reference of a quote after its arguments. */
async function payWith(reference: string, amount: bigint): Promise<string> {
  const args = [world.treasury.address, amount] as const
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  const data = `${call}${Buffer.from(reference, 'base64url').toString('hex')}` as Hex
  const hash = await world.chain.call(buyer.account, world.chain.usdc, data)
  await world.chain.mine(2)
  return hash
}

test('a payment that carries a quote’s reference is bought with only by who has its claim', async () => {
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

test('who paid what a quote asked for is hired for it, whatever the price has become', async () => {
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

test('who paid by a quote’s reference is hired, though the service was taken off the market meanwhile', async () => {
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

test('above 25 USDC whoever asks shows that they paid: by the reference, or by the payer’s signature', async () => {
  const dear = await world.newSeller({ price_usd: '30.00' })
  const hash = await world.settled(buyer, 33_000_000n)
  const ask = (headers: Record<string, string>) =>
    client().post(payPath(dear.serviceId), { brief: BRIEF }, { headers: { 'x-payment': hash, ...headers } })
  expect(await ask({})).toMatchObject({ status: 402, body: { error: 'binding_required' } })
  const stolen = await ownSignature(hash, dear.serviceId, await world.newBuyer())
  expect(await ask(stolen)).toMatchObject({ status: 402, body: { error: 'wrong_payer' } })
  expect((await ask(await ownSignature(hash, dear.serviceId))).status).toBe(200)
})

/** Somebody who reads the chain purchases themselves with another's payment. */
async function steal(hash: string) {
  const thief = await world.newSeller({ price_usd: '10.00' })
  const headers = { 'x-payment': hash }
  const stolen = await client().post(payPath(thief.serviceId), { brief: 'For me.' }, { headers })
  expect(stolen.status).toBe(200)
  const id: string = stolen.body.data.order_id
  return { id, deliver: () => world.deliver(thief.apiKey, id) }
}

async function stealAndDeliver(hash: string) {
  const theft = await steal(hash)
  expect((await theft.deliver()).body.data.status).toBe('completed')
  return theft
}

const rowOf = (id: string) =>
  world.market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const balances = async (...ids: string[]) => {
  const subjects = ids.map((id) => `order:${id}`)
  const { db } = world.market
  const rows = await db.selectFrom('ledger_accounts').selectAll().where('subject', 'in', subjects).execute()
  return ids.map((id) => rows.find(({ subject }) => subject === `order:${id}`)?.balance_micros ?? 0n)
}

/** What the order's service is shown to have done; its agent has done the same. */
async function countsOf(id: string) {
  const { listing_id, agent_id } = await rowOf(id)
  const { db } = world.market
  const [service, agent] = await Promise.all([
    db.selectFrom('listings').selectAll().where('id', '=', listing_id).executeTakeFirstOrThrow(),
    db.selectFrom('agents').selectAll().where('id', '=', agent_id).executeTakeFirstOrThrow(),
  ])
  const { total_orders: total, completed_orders: completed } = service
  expect(agent).toMatchObject({ total_orders: total, completed_orders: completed })
  return { total, completed, buyers: service.settled_buyers }
}

const payoutsOf = (id: string) =>
  world.market.db
    .selectFrom('payouts')
    .select(['kind', 'state', 'amount_micros', 'due_at', 'created_at'])
    .where('subject', '=', id)
    .orderBy('kind')
    .execute()

test('who paid and signs for it takes an unbound hire over before it is delivered', async () => {
  const hash = await world.settled(buyer, DUE)
  const { id: theirs, deliver } = await steal(hash)
  const mine = await hire(hash, { brief: BRIEF }, await ownSignature(hash))
  expect(mine.status).toBe(200)
  const { order_id } = mine.body.data
  expect(await rowOf(theirs)).toMatchObject({
    status: 'cancelled',
    outcome: 'unpaid',
    payment_reference: null,
  })
  expect((await deliver()).status).toBe(400)
  expect(await countsOf(theirs)).toEqual({ total: 0, completed: 0, buyers: 0 })
  expect(await rowOf(order_id)).toMatchObject({ status: 'paid', payment_reference: hash })
  expect(await balances(theirs, order_id)).toEqual([0n, DUE])
  expect((await eventsOf(theirs)).map(([event]) => event)).toEqual(['order.created', 'order.cancelled'])
  expect((await hire(hash, { brief: BRIEF }, await ownSignature(hash))).body.data.order_id).toBe(order_id)
  expect((await hire(hash, { brief: 'For me.' })).status).toBe(409)
})

const resolve = async (id: string, outcome: 'release' | 'refund') =>
  client().post(
    `/api/admin/orders/${id}/resolve`,
    { outcome, note: 'Heard.' },
    { bearer: await operatorToken(world.market) },
  )

test('once it is delivered an operator decides: back to who paid', async () => {
  const hash = await world.settled(buyer, DUE)
  const { id, deliver } = await stealAndDeliver(hash)
  const mine = await hire(hash, { brief: BRIEF }, await ownSignature(hash))
  expect([mine.status, mine.body.code]).toEqual([409, 'payment_contested'])
  expect(await rowOf(id)).toMatchObject({ status: 'disputed', payment_reference: hash })
  expect(await payoutsOf(id)).toMatchObject([{ kind: 'payout', state: 'withdrawn' }])
  expect(await balances(id)).toEqual([DUE])
  expect(await countsOf(id)).toEqual({ total: 1, completed: 0, buyers: 0 })
  const again = await deliver()
  expect([again.status, again.body.code]).toEqual([400, 'illegal_transition'])
  expect((await hire(hash, { brief: BRIEF }, await ownSignature(hash))).body.code).toBe('payment_contested')
  expect((await eventsOf(id)).map(([event]) => event)).toEqual([
    'order.created',
    'order.completed',
    'order.disputed',
  ])

  expect((await resolve(id, 'refund')).body.data.status).toBe('cancelled')
  expect(await payoutsOf(id)).toMatchObject([
    { kind: 'payout', state: 'withdrawn' },
    { kind: 'refund', state: 'queued', amount_micros: DUE },
  ])
  expect(await balances(id)).toEqual([0n])
})

test('once it is delivered an operator decides: to the agent, and that is the end of it', async () => {
  const hash = await world.settled(buyer, DUE)
  const { id } = await stealAndDeliver(hash)
  expect((await hire(hash, { brief: BRIEF }, await ownSignature(hash))).status).toBe(409)
  expect((await resolve(id, 'release')).body.data.status).toBe('completed')
  expect(await payoutsOf(id)).toMatchObject([{ kind: 'payout', state: 'queued', amount_micros: 10_000_000n }])
  expect(await balances(id)).toEqual([0n])
  expect(await countsOf(id)).toEqual({ total: 1, completed: 1, buyers: 1 })
  const late = await hire(hash, { brief: BRIEF }, await ownSignature(hash))
  expect([late.status, late.body.code]).toEqual([409, 'payment_already_used'])
  expect((await rowOf(id)).status).toBe('completed')
})

test('who names the payment of a hire for that very hire changes nothing', async () => {
  const payer = await world.newBuyer()
  const hash = await world.settled(payer, DUE)
  const { order_id } = (await hire(hash)).body.data
  const named = await world.act(payer, order_id, 'pay', { escrow_tx_hash: hash })
  expect([named.status, named.body.data.status]).toEqual([200, 'paid'])
  expect(await rowOf(order_id)).toMatchObject({ status: 'paid', payment_reference: hash })
  expect(await balances(order_id)).toEqual([DUE])
})

test('a payment that somebody hired with pays the order that its payer makes of it', async () => {
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

test('who has an order to pay is believed to pay that one: nobody purchases with their payment but they', async () => {
  const payer = await world.newBuyer()
  const own = await world.newSeller({ price_usd: '11.00' })
  const order = await world.order(payer, own.serviceId)
  const hash = await world.settled(payer, DUE)
  const stolen = await hire(hash, { brief: 'For me.' })
  expect([stolen.status, stolen.body.error]).toEqual([402, 'binding_required'])
  const paid = await world.act(payer, order.body.data.id, 'pay', { escrow_tx_hash: hash })
  expect([paid.status, paid.body.data.status]).toEqual([200, 'paid'])
})

test('an order that costs more than was paid binds nobody: the payment cannot be for it', async () => {
  const payer = await world.newBuyer()
  const dear = await world.newSeller({ price_usd: '11.01' })
  expect((await world.order(payer, dear.serviceId)).status).toBe(201)
  expect((await hire(await world.settled(payer, DUE))).status).toBe(200)
})

test('what leaves for an unbound hire waits for an hour; after it nobody takes it over', async () => {
  const hash = await world.settled(buyer, DUE)
  const { id } = await stealAndDeliver(hash)
  const [payout] = await payoutsOf(id)
  expect(Number(payout?.due_at) - Number(payout?.created_at)).toBeGreaterThan(3_500_000)
  await world.advance(3_601_000)
  expect((await hire(hash, { brief: BRIEF }, await ownSignature(hash))).status).toBe(409)
  expect((await rowOf(id)).status).toBe('completed')
})

test('answers that are too long for a brief are told short, and kept whole', async () => {
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
