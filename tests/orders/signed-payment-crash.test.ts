import { randomUUID } from 'node:crypto'
import { checkIntents, recheckTransfers, sendUnmined } from '@market/money/payments'
import { PURPOSES } from '@market/worker/payment-handlers'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { client } from '../support/client.ts'
import { startDyingApi } from '../support/dying-api.ts'
import { follow } from '../support/follow.ts'
import { FREQUENT_SWEEPS } from '../support/settings.ts'
import { sweepContext } from '../support/sweep-context.ts'
import { until } from '../support/until.ts'
import { type OrderWorld, startOrderWorld } from './order-world.ts'
import { said, signedOrders } from './signed-orders.ts'

/** An api that is killed while it stores a signed payment, and a chain that drops one: the order is paid once. */

const PRICE = 10_000_000n
const LEASE_MS = 31_000
const LONG = { withinMs: 40_000, everyMs: 300 }

let world: OrderWorld
let orders: Awaited<ReturnType<typeof signedOrders>>
let seller: Awaited<ReturnType<OrderWorld['newSeller']>>
let payer: Awaited<ReturnType<typeof orders.newWallet>>
/** Enough for two payments: the second one must not happen. */
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' }, { gas: true })
  orders = await signedOrders(world.market as never)
  seller = await world.newSeller({ price_usd: '10.00' })
})
afterAll(() => world.stop())
beforeEach(async () => {
  payer = await orders.newWallet(world.chain, 2n * PRICE)
})

const newOrder = () => orders.newOrder(seller.serviceId)
const sign = (changes = {}) => orders.signFor(payer.wallet, seller.serviceId, { changes })
const statusOf = async (id: string) => (await orders.read(id)).order.status
const isPaid = async (id: string) => (await statusOf(id)) === 'paid'

async function startWorker() {
  const worker = await world.market.startWorker(FREQUENT_SWEEPS)
  onTestFinished(() => worker.stop())
}

/** Pays by an api that is killed at the commit which stores the payment. */
async function payAndDie(moment: 'before' | 'after') {
  const [id, payment] = [await newOrder(), await sign()]
  const ask = { ...orders.buyer, key: randomUUID() }
  const dying = await startDyingApi(world.market.environment, moment, 'payment_intents')
  await expect(orders.pay(id, payment, ask, client(dying.url))).rejects.toThrow()
  await dying.killed
  expect(await payer.held()).toBe(2n * PRICE)
  return { id, payment, again: () => orders.pay(id, payment, ask) }
}

test('api killed between storing and sending: the repeated request pays once, by a worker', async () => {
  const { id, again } = await payAndDie('after')
  expect((await orders.payAct(id)).why_not.code).toBe('payment_in_progress')
  expect((await orders.read(id)).pending_payment).toMatchObject({ confirmations: null })
  const repeated = await again()
  expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect(said(await orders.pay(id, await sign()))).toEqual([409, 'payment_in_progress'])
  await startWorker()
  await until('the worker sends it', () => isPaid(id), LONG)
  expect(await payer.held()).toBe(PRICE)
})

test('api killed between storing and sending: the same payment without a key is sent by the request', async () => {
  const { id, payment } = await payAndDie('after')
  const reply = await orders.pay(id, payment)
  expect([reply.status, reply.body.data?.status]).toEqual([200, 'paid'])
  expect(await payer.held()).toBe(PRICE)
})

test('api killed before it stored the payment: nothing is sent, and the repeated request pays once', async () => {
  const { id, again } = await payAndDie('before')
  expect(await statusOf(id)).toBe('quoted')
  expect(said(await again())).toEqual([409, 'request_in_progress'])
  await world.market.advance(LEASE_MS)
  const repeated = await again()
  expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, null])
  expect((await again()).headers.get('idempotent-replayed')).toBe('true')
  expect(await payer.held()).toBe(PRICE)
})

/** A paid order whose payment the chain drops, so that it waits for it again. `sweeps` run one at a time. */
async function droppedPayment(changes: { readonly maxTimeoutSeconds?: number } = {}, aheadSeconds = 0) {
  const { chain, market } = world
  const id = await newOrder()
  const payment = await sign(changes)
  expect((await orders.pay(id, payment)).body.data?.status).toBe('paid')
  await chain.reorg(1)
  if (aheadSeconds > 0) await chain.rpc('evm_increaseTime', [aheadSeconds])
  await chain.mine(FINALITY)
  const ctx = await sweepContext(world)
  await market.advance(10_000)
  await follow(ctx, 'base-mainnet')
  await recheckTransfers(ctx, PURPOSES)
  const { order, pending_payment, payment_final } = await orders.read(id)
  expect([order.status, payment_final]).toEqual(['accepted', null])
  expect(order.payment_error).toContain('Do not pay again yet')
  expect(pending_payment).toMatchObject({ confirmations: null })
  return {
    id,
    payment,
    sendDropped: () => sendUnmined(ctx),
    check: async () => {
      await market.advance(10_000)
      await checkIntents(ctx, PURPOSES)
    },
  }
}

test('reorganization: a second signed payment is 409 while the first can still be executed, and the order is paid once', async () => {
  const { id, payment, check, sendDropped } = await droppedPayment()
  await check()
  expect(said(await orders.pay(id, await sign()))).toEqual([409, 'payment_in_progress'])
  await sendDropped()
  await world.chain.mine(FINALITY)
  await check()
  expect(await isPaid(id)).toBe(true)
  expect((await orders.pay(id, payment)).body.data?.status).toBe('paid')
  expect(await payer.held()).toBe(PRICE)
})

test('reorganization: once the dropped authorization has expired the order can be paid again', async () => {
  const { id, check, sendDropped } = await droppedPayment({ maxTimeoutSeconds: 10 }, 60)
  await check()
  const { order, pending_payment } = await orders.read(id)
  expect([order.status, pending_payment]).toEqual(['accepted', null])
  expect(order.payment_error).toContain('the authorization expired')
  expect((await orders.payAct(id)).why_not).toBeNull()
  await sendDropped()
  const reply = await orders.pay(id, await orders.signOrder(payer.wallet, id))
  expect([reply.status, reply.body.data?.status]).toEqual([200, 'paid'])
  expect(await payer.held()).toBe(PRICE)
})

test('reorganization: a worker sends a dropped payment again, and the order stays paid', async () => {
  const id = await newOrder()
  expect((await orders.pay(id, await sign())).status).toBe(200)
  await world.chain.reorg(1)
  expect(await payer.held()).toBe(2n * PRICE)
  await startWorker()
  await until('it is paid again', async () => (await payer.held()) === PRICE, LONG)
  expect(await isPaid(id)).toBe(true)
})
