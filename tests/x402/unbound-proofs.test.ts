import { createHash } from 'node:crypto'
import { DAY, HOUR, MINUTE } from '@market/kernel/clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { asHeaders, DESCRIPTION, signed, someName } from '../support/makers.ts'
import { operatorToken } from '../support/operator.ts'
import { BASE_URL } from '../support/settings.ts'
import { until } from '../support/until.ts'

/** Purchases by a bare transaction hash: when the seller is paid, and what happens when two callers name one transfer. */

const BRIEF = 'Read the branch called blue.'
const OTHER = 'For me.'
/** 10.00 plus the fee. */
const DUE = 11_000_000n

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

type Buyer = Awaited<ReturnType<OrderWorld['newBuyer']>>
type Seller = Awaited<ReturnType<OrderWorld['newSeller']>>

const client = () => world.market.client()
const newSeller = (fields: Record<string, unknown> = {}) => world.newSeller({ price_usd: '10.00', ...fields })

const buy = (
  { serviceId }: Pick<Seller, 'serviceId'>,
  hash: string,
  brief = BRIEF,
  headers: Record<string, string> = {},
) =>
  client().post(
    `/api/x402/pay?service_id=${serviceId}`,
    { brief },
    { headers: { 'x-payment': hash, ...headers } },
  )

/** Signs the text of the response as it is. */
async function signatureOf(buyer: Buyer, instructions: unknown): Promise<Record<string, string>> {
  const sign = instructions as { wallet: string; message: string; wallet_sig_ts: number }
  expect(sign.wallet).toBe(buyer.address)
  return asHeaders({
    wallet: sign.wallet,
    wallet_sig: await buyer.sign(sign.message),
    wallet_sig_ts: sign.wallet_sig_ts,
  })
}

async function ownSignature(buyer: Buyer, hash: string, { serviceId }: Seller, brief = BRIEF) {
  const words = createHash('sha256').update(brief).digest('hex')
  const purpose = `x402.pay:base-mainnet:${hash}:${serviceId}:${words}`
  return asHeaders(await signed(buyer, purpose))
}

const rowOf = (id: string) =>
  world.market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const payoutsOf = (id: string) =>
  world.market.db
    .selectFrom('payouts')
    .select(['kind', 'state', 'hold_code', 'amount_micros', 'not_before', 'contested_at'])
    .where('subject', 'like', `${id}%`)
    .orderBy('kind')
    .execute()

const payoutView = async (seller: Seller, id: string) =>
  (await client().get(`/api/orders/${id}`, { bearer: seller.apiKey })).body.data.payout

const resolve = async (id: string, outcome: 'release' | 'refund') =>
  client().post(
    `/api/admin/orders/${id}/resolve`,
    { outcome, note: 'Heard.' },
    { bearer: await operatorToken(world.market) },
  )

const contests = async () =>
  (await client().get('/api/admin/contests?limit=100', { bearer: await operatorToken(world.market) })).body
    .data as {
    purchase_id: string
    order_id: string | null
    agent_id: string | null
    ends_at: string | null
  }[]

/** A transfer of a new wallet, and a purchase by another caller who only names it. */
async function named(amount = DUE) {
  const [payer, thief] = [await world.newBuyer(), await newSeller()]
  const hash = await world.settled(payer, amount)
  const stolen = await buy(thief, hash, OTHER)
  expect(stolen.status).toBe(200)
  const id: string = stolen.body.data.order_id
  return { payer, thief, hash, id, token: String(stolen.body.data.status_url).replace(BASE_URL, '') }
}

async function delivered() {
  const theft = await named()
  expect((await world.deliver(theft.thief.apiKey, theft.id)).body.data.status).toBe('completed')
  return theft
}

describe('the payout’s wait', () => {
  test('payout: waits 7 days with hold_code contest_window when the seller has no completed orders', async () => {
    const { thief, id } = await delivered()
    const { payout_waits_until: until, created_at } = await rowOf(id)
    expect(Number(until) - Number(created_at)).toBe(7 * DAY)
    expect(await payoutView(thief, id)).toMatchObject({
      status: 'held',
      hold_code: 'contest_window',
      held_until: until?.toISOString(),
    })
  })

  test('payout: waits 24 hours up to 25 USD after completed orders of three payers, which the 402 names', async () => {
    const seller = await newSeller()
    /** What the 402 says; quotes are cached for a second. */
    const saysHours = (hours: number) =>
      until(`the 402 says ${hours} hours`, async () => {
        const { body } = await client().post(`/api/x402/pay?service_id=${seller.serviceId}`, { brief: BRIEF })
        return (body['proof'] as { hash: { payout_wait_hours: number } }).hash.payout_wait_hours === hours
      })
    const buyOwn = async (payer: Buyer) => {
      const hash = await world.settled(payer, DUE)
      const reply = await buy(seller, hash, BRIEF, await ownSignature(payer, hash, seller))
      await world.deliver(seller.apiKey, reply.body.data.order_id)
    }
    const buyUnbound = async (amount = DUE) => {
      const { order_id } = (await buy(seller, await world.settled(await world.newBuyer(), amount))).body.data
      await world.deliver(seller.apiKey, order_id)
      const { payout_waits_until: until, created_at } = await rowOf(order_id)
      return Number(until) - Number(created_at)
    }
    await saysHours(168)
    const [first, second, third] = [await world.newBuyer(), await world.newBuyer(), await world.newBuyer()]
    for (const payer of [first, first, second]) await buyOwn(payer)
    // Unbound orders do not count while they can be contested: their payer may be a victim.
    expect([await buyUnbound(), await buyUnbound()]).toEqual([7 * DAY, 7 * DAY])
    await buyOwn(third)
    expect(await buyUnbound()).toBe(DAY)
    await saysHours(24)
    const change = { price_usd: '30.00' }
    await client().patch(`/api/services/${seller.serviceId}`, change, { bearer: seller.apiKey })
    expect(await buyUnbound(33_000_000n)).toBe(7 * DAY)
    await saysHours(168)
  })

  test('payout: the same request with the payer’s signature ends the wait at once', async () => {
    const { payer, thief: seller, hash, id, token } = await delivered()
    const { sign } = (await client().get(token)).body.data
    const reply = await buy(seller, hash, OTHER, await signatureOf(payer, sign))
    expect([reply.status, reply.body.data.order_id]).toEqual([200, id])
    expect(await payoutsOf(id)).toMatchObject([{ kind: 'payout', not_before: null, contested_at: null }])
    expect(await rowOf(id)).toMatchObject({ payer_proven: true, payout_waits_until: null })
    // Proven once, the payment is not given to another purchase, even by the payer.
    const mine = await newSeller()
    const late = await buy(mine, hash, BRIEF, await ownSignature(payer, hash, mine))
    expect([late.status, late.body.code]).toEqual([409, 'payment_already_used'])
  })
})

describe('a transfer that two callers name', () => {
  test('contest: holds the order and returns the exact text to sign to both callers', async () => {
    const { payer, thief, hash, id, token } = await named()
    const mine = await newSeller()
    const second = await buy(mine, hash)
    expect([second.status, second.body.code]).toEqual([409, 'payment_contested'])
    expect(second.body['sign']).toMatchObject({
      send_to: `POST ${BASE_URL}/api/x402/pay?service_id=${mine.serviceId}`,
    })
    const { contested_at: at, contest_ends_at: ends } = await rowOf(id)
    expect(Number(ends) - Number(at)).toBe(7 * DAY)

    const first = await client().get(token)
    expect(first.body.data.order).toMatchObject({ status: 'paid', contest_ends_at: ends?.toISOString() })
    expect(first.body.data.sign.purpose).toContain(thief.serviceId)
    const replayed = await buy(thief, hash, OTHER)
    expect([replayed.status, replayed.body.data.sign.wallet]).toEqual([200, payer.address])

    const rejected = await world.deliver(thief.apiKey, id)
    expect([rejected.status, rejected.body.code]).toEqual([409, 'payment_contested'])
    for (const action of ['start', 'cancel']) {
      const reply = await world.byKey(thief.apiKey, id, action)
      expect([reply.status, reply.body.code]).toEqual([409, 'payment_contested'])
    }
    expect(await eventsOf(id)).toEqual(['order.created', 'order.disputed'])

    const won = await buy(mine, hash, BRIEF, await signatureOf(payer, second.body['sign']))
    expect([won.status, won.body.data.status]).toEqual([200, 'paid'])
    expect(won.body.data.status_url).toContain('?t=')
    expect(await rowOf(id)).toMatchObject({ status: 'cancelled', outcome: 'unpaid', contested_at: null })
    expect(await rowOf(won.body.data.order_id)).toMatchObject({ payer_proven: true, payment_reference: hash })
    const again = await buy(thief, hash, OTHER)
    expect([again.status, again.body.code]).toEqual([409, 'payment_already_used'])
  })

  test('contest: the first caller’s signature ends it, and the agent gets the lost time back', async () => {
    const { payer, thief: seller, hash, id, token } = await named()
    await buy(await newSeller(), hash)
    const before = await rowOf(id)
    await world.advance(2 * HOUR)
    const { sign } = (await client().get(token)).body.data
    expect((await buy(seller, hash, OTHER, await signatureOf(payer, sign))).status).toBe(200)
    const after = await rowOf(id)
    expect(after).toMatchObject({ status: 'paid', contested_at: null, payer_proven: true })
    expect(Number(after.deliver_by) - Number(before.deliver_by)).toBeGreaterThanOrEqual(2 * HOUR)
    expect((await world.deliver(seller.apiKey, id)).body.data.status).toBe('completed')
    expect(await payoutsOf(id)).toMatchObject([{ kind: 'payout', state: 'queued', not_before: null }])
  })

  test('contest: an unsigned naming 16 minutes after the block changes nothing; the payer’s signature still decides', async () => {
    const { payer, hash, id } = await named()
    await world.advance(16 * MINUTE)
    const mine = await newSeller()
    const before = await rowOf(id)
    const late = await buy(mine, hash)
    expect([late.status, late.body.code]).toEqual([409, 'payment_already_used'])
    expect(await rowOf(id)).toEqual(before)
    const won = await buy(mine, hash, BRIEF, await signatureOf(payer, late.body['sign']))
    expect([won.status, won.body.data.status]).toEqual([200, 'paid'])
    expect((await rowOf(id)).status).toBe('cancelled')
  })

  test('contest: a buyer who received the work and names the transfer in other words gets nothing back; an arbiter sees both namings', async () => {
    const { thief: seller, hash, id, payer } = await delivered()
    const mine = await newSeller()
    const again = await buy(mine, hash, 'The same in other words.')
    expect([again.status, again.body.code]).toEqual([409, 'payment_contested'])
    expect(await rowOf(id)).toMatchObject({ status: 'completed', contest_ends_at: null })
    expect(await payoutView(seller, id)).toMatchObject({ status: 'held', hold_code: 'contested' })
    await world.advance(8 * DAY)
    expect(await payoutsOf(id)).toMatchObject([{ kind: 'payout', state: 'held', hold_code: 'contested' }])

    const found = (await contests()).find((one) => one.order_id === id)
    expect(found).toMatchObject({
      ends_at: null,
      tx_hash: hash,
      payer: payer.address.toLowerCase(),
      namings: [
        { subject: `service:${seller.serviceId}`, request: { brief: OTHER }, named_at: expect.any(String) },
        {
          subject: `service:${mine.serviceId}`,
          request: { brief: 'The same in other words.' },
          named_at: expect.any(String),
        },
      ],
    })
    expect((await resolve(id, 'release')).body.data.status).toBe('completed')
    expect(await payoutsOf(id)).toMatchObject([{ state: 'queued', amount_micros: 10_000_000n }])
    expect((await contests()).some((one) => one.order_id === id)).toBe(false)
  })

  test('contest: the arbiter refunds a delivered order to the on-chain sender; a completed order without a contest cannot be resolved', async () => {
    const { hash, id } = await delivered()
    expect((await resolve(id, 'refund')).body.code).toBe('illegal_transition')
    await buy(await newSeller(), hash)
    expect((await resolve(id, 'refund')).body.data).toMatchObject({
      status: 'cancelled',
      outcome: 'refunded',
    })
    expect(await payoutsOf(id)).toMatchObject([
      { kind: 'payout', state: 'withdrawn' },
      { kind: 'refund', state: 'queued', amount_micros: DUE },
    ])
  })

  test('contest: the payer’s signature for another purchase ends a delivered order without an operator', async () => {
    const { payer, hash, id } = await delivered()
    const mine = await newSeller()
    const won = await buy(mine, hash, BRIEF, await ownSignature(payer, hash, mine))
    expect([won.status, won.body.data.status]).toEqual([200, 'paid'])
    expect(await rowOf(id)).toMatchObject({ status: 'cancelled', outcome: 'unpaid' })
    expect(await payoutsOf(id)).toMatchObject([{ kind: 'payout', state: 'withdrawn' }])
  })

  test('contest: records 20 namings of one transfer and no more', async () => {
    const { hash } = await named()
    const mine = await newSeller()
    for (let n = 0; n < 22; n++) await buy(mine, hash, `Naming number ${n}.`)
    const { count } = await world.market.db
      .selectFrom('purchase_namings')
      .innerJoin('purchases', 'purchases.id', 'purchase_namings.purchase_id')
      .select((select) => select.fn.countAll<bigint>().as('count'))
      .where('purchases.proof', '=', hash)
      .executeTakeFirstOrThrow()
    expect(count).toBe(20n)
  })

  test('contest: a surplus that was already returned is not needed: the rest is refunded to the payer who signs', async () => {
    const payer = await world.newBuyer()
    const cheap = await newSeller({ price_usd: '1.00' })
    const hash = await world.settled(payer, DUE)
    const { order_id: id } = (await buy(cheap, hash, OTHER)).body.data
    await world.deliver(cheap.apiKey, id)
    await world.market.db
      .updateTable('payouts')
      .set({ state: 'signed' })
      .where('subject', '=', `${id}:surplus:base-mainnet`)
      .execute()
    const mine = await newSeller()
    const reply = await buy(mine, hash, BRIEF, await ownSignature(payer, hash, mine))
    expect([reply.status, reply.body.code]).toEqual([409, 'payment_refunded'])
    expect(await rowOf(id)).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
    expect(await payoutsOf(id)).toMatchObject([
      { kind: 'payout', state: 'withdrawn' },
      { kind: 'refund', amount_micros: 1_100_000n },
      { kind: 'surplus', amount_micros: DUE - 1_100_000n },
    ])
  })
})

const eventsOf = async (orderId: string) =>
  (await world.market.db.selectFrom('events').select('event').where('order_id', '=', orderId).execute()).map(
    ({ event }) => event,
  )

describe('what is accepted', () => {
  test('binding: a wallet that is linked to an account needs its signature, with the exact text in proof.sign', async () => {
    const [payer, seller] = [await world.newBuyer(), await newSeller()]
    const token = await world.market.idp.token({ sub: `user-${payer.address}`, wallets: [payer.address] })
    expect((await client().post('/api/auth/user', {}, { bearer: token })).status).toBeLessThan(300)
    const hash = await world.settled(payer, DUE)
    const asked = await buy(seller, hash)
    expect([asked.status, asked.body.error]).toEqual([402, 'binding_required'])
    const reply = await buy(
      seller,
      hash,
      BRIEF,
      await signatureOf(payer, (asked.body['proof'] as { sign: unknown }).sign),
    )
    expect(reply.status).toBe(200)
    expect(await rowOf(reply.body.data.order_id)).toMatchObject({ payer_proven: true })
  })

  test('price: one of the last hour is accepted, an older one is not', async () => {
    const seller = await newSeller()
    const reprice = async (price_usd: string) =>
      expect(
        (await client().patch(`/api/services/${seller.serviceId}`, { price_usd }, { bearer: seller.apiKey }))
          .status,
      ).toBe(200)
    await reprice('20.00')
    const paid = await buy(seller, await world.settled(await world.newBuyer(), DUE))
    expect(paid.status).toBe(200)
    expect(await rowOf(paid.body.data.order_id)).toMatchObject({ price_micros: DUE })
    await world.advance(61 * MINUTE)
    const late = await buy(seller, await world.settled(await world.newBuyer(), DUE))
    expect([late.status, late.body.error]).toEqual([402, 'underpaid'])
  })

  test('access token: expires 30 days after the order ends', async () => {
    const { thief: seller, id, token, hash, payer } = await delivered()
    await buy(seller, hash, OTHER, await ownSignature(payer, hash, seller, OTHER))
    await world.advance(29 * DAY)
    expect((await client().get(token)).status).toBe(200)
    await world.advance(DAY)
    const late = await client().get(token)
    expect([late.status, late.body.code]).toEqual([404, 'access_token_expired'])
    expect((await rowOf(id)).status).toBe('completed')
  })
})

describe('paid registration', () => {
  const FEE = 1_000_000n
  const wanted = () => ({ name: someName(), description: DESCRIPTION })
  const register = (body: Record<string, unknown>, headers: Record<string, string>) =>
    client().post('/api/agents/register?pay=x402', body, { headers })
  const ownerOf = async (id: string) =>
    (
      await world.market.db
        .selectFrom('agents')
        .select('owner_wallet')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    ).owner_wallet

  test('registration: accepts owner_wallet of the payer and rejects another one', async () => {
    const payer = await world.newBuyer()
    const hash = await world.settled(payer, FEE)
    const other = (await world.newBuyer()).address
    const rejected = await register({ ...wanted(), owner_wallet: other }, { 'x-payment': hash })
    expect([rejected.status, rejected.body.error]).toEqual([402, 'owner_wallet_not_payer'])
    const done = await register({ ...wanted(), owner_wallet: payer.address }, { 'x-payment': hash })
    expect(done.status).toBe(201)
    expect(await ownerOf(done.body.data.agent_id)).toBe(payer.address.toLowerCase())
  })

  test('registration: the payer’s signature for another agent registers it and stops the key of the first', async () => {
    const payer = await world.newBuyer()
    const hash = await world.settled(payer, FEE)
    const theirs = await register(wanted(), { 'x-payment': hash })
    const mine = wanted()
    const contested = await register(mine, { 'x-payment': hash })
    expect([contested.status, contested.body.code]).toEqual([409, 'payment_contested'])
    const headers = await signatureOf(payer, contested.body['sign'])
    const done = await register(mine, { 'x-payment': hash, ...headers })
    expect([done.status, done.body.data.marketable]).toEqual([201, true])
    expect((await client().get('/api/agents/me', { bearer: theirs.body.data.api_key })).status).toBe(401)
    expect(await ownerOf(theirs.body.data.agent_id)).toBe(payer.address.toLowerCase())
    expect(await ownerOf(done.body.data.agent_id)).toBe(payer.address.toLowerCase())
  })

  test('registration: without a signature an arbiter decides, and a refund stops the key', async () => {
    const payer = await world.newBuyer()
    const hash = await world.settled(payer, DUE)
    const { agent_id: theirs, api_key } = (await register(wanted(), { 'x-payment': hash })).body.data
    expect((await buy(await newSeller(), hash)).body.code).toBe('payment_contested')
    const found = (await contests()).find((one) => one.agent_id === theirs)
    expect(found).toMatchObject({ order_id: null, ends_at: null })
    const decide = async () =>
      client().post(
        `/api/admin/contests/${found?.purchase_id}/resolve`,
        { outcome: 'refund', note: 'It was not the payer.' },
        { bearer: await operatorToken(world.market) },
      )
    expect((await decide()).status).toBe(200)
    expect((await client().get('/api/agents/me', { bearer: api_key })).status).toBe(401)
    expect(await payoutsOf(found?.purchase_id ?? '')).toMatchObject([
      { kind: 'refund', amount_micros: FEE },
      { kind: 'surplus', amount_micros: DUE - FEE },
    ])
    expect((await decide()).status).toBe(404)
  })
})
