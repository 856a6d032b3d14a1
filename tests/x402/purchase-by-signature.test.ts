import { checkIntents, recheckTransfers } from '@market/money/payments'
import { PURPOSES } from '@market/worker/payment-handlers'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { someAddress } from '../support/client.ts'
import { pendingOf } from '../support/named-transfers.ts'
import { SHORT_WAIT } from '../support/settings.ts'
import { sweepContext } from '../support/sweep-context.ts'

/** Purchases by signed payment: unmodified x402 clients on a real chain. */

const BRIEF = 'Read the branch called blue.'
const DUE = 11_000_000n

let world: OrderWorld
let seller: Awaited<ReturnType<OrderWorld['newSeller']>>
let buyer: Awaited<ReturnType<OrderWorld['newBuyer']>>
let paying: typeof fetch
let stock: x402Client
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' }, { gas: true })
  seller = await world.newSeller({ price_usd: '10.00' })
  buyer = await world.newBuyer()
  stock = x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(buyer.account) }],
    // The default spending limit of an unmodified client is 1 USD.
    spendControls: { maxAmountPerPayment: '$20' },
  })
  paying = wrapFetchWithPayment(fetch, stock)
})
afterAll(() => world.stop())

const url = (path: string) => `${world.market.url}${path}`
const payUrl = (at = world.market.url) => `${at}/api/x402/pay?service_id=${seller.serviceId}`
const from = () => ({ 'x-forwarded-for': someAddress() })
const json = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...from() },
})

test('an unmodified client buys through discover, pay and orders; each purchase is one order, paid once', async () => {
  const before = await world.chain.balanceOf(buyer.account.address)
  const found = await paying(
    url(`/api/x402/discover/${seller.serviceId}?brief=${encodeURIComponent(BRIEF)}`),
    {
      headers: from(),
    },
  )
  expect([found.status, Object.keys((await found.json()) as object)]).toEqual([
    200,
    ['order_id', 'status', 'result_url'],
  ])
  const paid = await paying(payUrl(), json({ brief: BRIEF }))
  expect([paid.status, await paid.json()]).toEqual([
    200,
    { success: true, data: expect.objectContaining({ status: 'paid' }) },
  ])
  const ordered = await paying(url('/api/orders'), json({ service_id: seller.serviceId, brief: BRIEF }))
  expect(ordered.status).toBe(201)
  expect(before - (await world.chain.balanceOf(buyer.account.address))).toBe(3n * DUE)
  expect(await world.chain.balanceOf(world.treasury)).toBe(3n * DUE)
})

/** The payment header that an unmodified client would send with its next request. */
async function signPayment(client = stock): Promise<string> {
  const quote = await fetch(payUrl(), json({ brief: BRIEF }))
  const required = decodePaymentRequiredHeader(quote.headers.get('payment-required') ?? '')
  return encodePaymentSignatureHeader(await client.createPaymentPayload(required))
}

const hire = async (payment: string, body: unknown = { brief: BRIEF }, at = world.market.url) => {
  const asked = json(body)
  const response = await fetch(payUrl(at), {
    ...asked,
    headers: { ...asked.headers, 'payment-signature': payment },
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, never>,
  }
}

/** For a payment that is not mined: the response is 202 soon. */
const hireShortly = async (payment: string) => {
  const { url: at } = await world.market.startApi(SHORT_WAIT)
  return hire(payment, undefined, at)
}

test('eight concurrent copies of one payment make one order and one transfer', async () => {
  const payment = await signPayment()
  const before = await world.chain.balanceOf(world.treasury)
  const replies = await Promise.all(Array.from({ length: 8 }, () => hire(payment)))
  expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect((await world.chain.balanceOf(world.treasury)) - before).toBe(DUE)
  const other = await hire(payment, { brief: 'Something else.' })
  expect([other.status, other.body['code']]).toEqual([409, 'payment_already_used'])
})

test('a wallet signature beside a payment must be for the order: another one is 401, and nothing is paid', async () => {
  const headers = { 'payment-signature': await signPayment() }
  const before = await world.chain.balanceOf(buyer.account.address)
  const send = async (purpose: string) => {
    const body = { service_id: seller.serviceId, brief: BRIEF, ...(await buyer.proof(purpose)) }
    return world.market.client().post('/api/orders', body, { headers })
  }
  const rejection = await send('session')
  expect([rejection.status, rejection.body.code]).toEqual([401, 'bad_signature'])
  expect(await world.chain.balanceOf(buyer.account.address)).toBe(before)
  expect((await send(`orders.create:${seller.serviceId}`)).status).toBe(201)
})

test('returns 202 while no block is mined, then the order', async () => {
  const payment = await signPayment()
  await world.chain.automine(false)
  const waiting = await hireShortly(payment)
  expect(waiting.status).toBe(202)
  const settled = JSON.parse(atob(waiting.headers.get('payment-response') ?? '')) as Record<string, unknown>
  expect(settled).toMatchObject({
    success: false,
    errorReason: 'settlement_pending',
    transaction: expect.stringMatching(/^0x/),
  })
  await world.chain.automine(true)
  await world.chain.mine(2)
  const done = await hire(payment)
  expect(done.status).toBe(200)
})

test('two payments from one balance: only one is broadcast, because pending payments count', async () => {
  const poor = await world.newBuyer()
  const held = await world.chain.balanceOf(poor.account.address)
  await world.chain.transfer(poor.account, world.gas, held - DUE)
  const client = x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(poor.account) }],
    spendControls: { maxAmountPerPayment: '$20' },
  })
  const [first, second] = [await signPayment(client), await signPayment(client)]
  await world.chain.automine(false)
  expect((await hireShortly(first)).status).toBe(202)
  const rejected = await hire(second)
  expect([rejected.status, rejected.body['error']]).toEqual([402, 'insufficient_funds'])
  expect(rejected.body['message']).toContain('USDC is for payments under way')
  await world.chain.automine(true)
  await world.chain.mine(2)
  expect((await hire(first)).status).toBe(200)
  expect((await hire(second)).status).toBe(402)
  expect(await world.chain.balanceOf(poor.account.address)).toBe(0n)
})

const FAILED = 5

test('a wallet with failed payments is rejected for an hour', async () => {
  const payment = await signPayment()
  expect((await hire(payment)).status).toBe(200)
  const { db } = world.market
  const row = await db
    .selectFrom('payment_intents')
    .selectAll()
    .where('bytes', 'is not', null)
    .executeTakeFirstOrThrow()
  for (let n = 0; n < FAILED; n++)
    await db
      .insertInto('payment_intents')
      .values({
        ...row,
        ...{ id: `int_1_${String(n).padStart(17, '0')}`, purpose_id: `failed ${n}`, status: 'failed' },
        ...{ proof: `${row.payers?.[0]}:0x${String(n).padStart(64, '0')}`, gas_account: null, nonce: null },
        ...{ payment: JSON.stringify(row.payment), request: null, created_at: new Date(world.market.now()) },
      })
      .execute()
  const rejected = await hire(await signPayment())
  expect([rejected.status, rejected.body['error']]).toEqual([402, 'too_many_failed_payments'])
  await db.deleteFrom('payment_intents').where('id', 'like', 'int_1_%').execute()
  expect((await hire(await signPayment())).status).toBe(200)
})

test('a transaction that we settled is rejected as a proof of payment', async () => {
  const payment = await signPayment()
  const { status, headers } = await hire(payment)
  expect(status).toBe(200)
  const { transaction } = JSON.parse(atob(headers.get('payment-response') ?? '')) as { transaction: string }
  const attacker = await fetch(payUrl(), {
    ...json({ brief: 'For me.' }),
    headers: { 'content-type': 'application/json', 'x-payment': transaction, ...from() },
  })
  expect(attacker.status).toBe(409)
})

test('a payment that another account submits after a reorganization pays the same order', async () => {
  const { market, chain } = world
  const done = await hire(await signPayment())
  const paidBy = JSON.parse(atob(done.headers.get('payment-response') ?? '')) as { transaction: string }
  const { order_id: orderId } = done.body['data'] as unknown as { order_id: string }
  const ctx = await sweepContext(world)
  const orderRow = async () => ({
    ...(await market.db
      .selectFrom('orders')
      .select(['status', 'payment_reference'])
      .where('id', '=', orderId)
      .executeTakeFirstOrThrow()),
    pending_reference: await pendingOf(market.db, orderId),
  })

  const { input } = (await chain.rpc('eth_getTransactionByHash', [paidBy.transaction])) as { input: Hex }
  await chain.reorg(1)
  const otherUser = privateKeyToAccount(generatePrivateKey())
  await chain.fund(otherUser.address)
  const theirs = await chain.call(otherUser, chain.usdc, input)
  await chain.mine(FINALITY)
  await market.advance(10_000)
  await recheckTransfers(ctx, PURPOSES)
  expect(await orderRow()).toMatchObject({ status: 'accepted', pending_reference: paidBy.transaction })
  await market.advance(10_000)
  await checkIntents(ctx, PURPOSES)
  expect(await orderRow()).toMatchObject({
    status: 'paid',
    pending_reference: null,
    payment_reference: theirs,
  })
})
