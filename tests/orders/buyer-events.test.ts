import type { Actor } from '@market/core/context'
import { type Buyer, findEventsAfter } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import { findPayment } from '@market/money/payments'
import { agentActor, userActor } from '@market/testing/make-actor'
import { makeListedAgent } from '@market/testing/makers'
import { buyerOf, quoteOrder } from '@market/trade/orders'
import { sql } from 'kysely'
import { afterAll, assert, beforeAll, expect, test } from 'vitest'
import { placePurchase } from '../support/place-purchase.ts'
import {
  NETWORK,
  newBuyer,
  type OrderFixture,
  openOrderFixture,
  PRICE,
  type Seller,
  type TestBuyer,
} from './order-fixture.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const ORDERS = 50

let fixture: OrderFixture
let seller: Seller
let quotingSeller: Seller
beforeAll(async () => {
  fixture = await openOrderFixture()
  seller = await fixture.makeSeller()
  quotingSeller = await fixture.makeSeller({ priceType: 'quote', price: null, maxRevisions: 0 })
})
afterAll(() => fixture.stop())

const eventsOf = (buyer: Actor, after = 0n, limit = 1_000) =>
  findEventsAfter(fixture.db, { kind: 'buyer', key: buyerOf(buyer) }, after, limit)

/** Name and data of each event of the buyer. */
const readBy = async (buyer: Actor) => (await eventsOf(buyer)).map(({ event, data }) => [event, data])

const namesReadBy = async (buyer: Actor) => (await eventsOf(buyer)).map(({ event }) => event)

const inHours = (hours: number) => new Date(fixture.clock.now().getTime() + hours * HOUR).toISOString()

const PAID = ['order.paid', { status: 'paid', service_title: 'A portrait in oil' }]

/** Deadlocks that Postgres ended in this database, also those that a retry hid. */
async function deadlocks(): Promise<bigint> {
  await sql`select pg_stat_force_next_flush()`.execute(fixture.db)
  const { rows } = await sql<{ deadlocks: bigint }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(fixture.db)
  return rows[0]?.deadlocks ?? -1n
}

test('quoted order: the buyer gets an event for each step of the agent, the payment and the verdict', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(quotingSeller, buyer)
  expect(await eventsOf(buyer)).toEqual([])
  await quoteOrder(fixture.ctx, quotingSeller.provider, {
    orderId: id,
    price: PRICE,
    expiresInHours: 72,
    message: 'Two sketches',
  })
  await fixture.accept(buyer, id)
  await fixture.pay(buyer, id, fixture.send(buyer.wallet.key))
  await fixture.start(quotingSeller, id)
  await fixture.deliver(quotingSeller, id)
  await fixture.revise(buyer, id)
  await fixture.decline(quotingSeller, id)
  await fixture.dispute(buyer, id)
  await fixture.resolve(id, { outcome: 'split', agentShareBps: 3_000 })
  expect(await readBy(buyer)).toEqual([
    ['order.quoted', { price_usd: '25.00', expires_at: inHours(72), message: 'Two sketches' }],
    ['order.accepted', { price_usd: '25.00' }],
    PAID,
    ['order.delivered', { review_ends_at: inHours(48) }],
    ['order.revision_declined', { review_ends_at: inHours(48) }],
    ['order.completed', { outcome: 'split' }],
  ])
  const events = await eventsOf(buyer)
  expect(events.map(({ seq }) => seq)).toEqual([1n, 2n, 3n, 4n, 5n, 6n])
  expect(new Set(events.map(({ orderId }) => orderId))).toEqual(new Set([id]))
})

test('order with a fixed price: no event before the payment, then paid, delivered and completed', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(seller, buyer)
  expect(await eventsOf(buyer)).toEqual([])
  await fixture.pay(buyer, id, fixture.send(buyer.wallet.key))
  await fixture.deliver(seller, id)
  await fixture.approve(buyer, id)
  expect(await readBy(buyer)).toEqual([
    PAID,
    ['order.delivered', { review_ends_at: inHours(48) }],
    ['order.completed', { outcome: 'released' }],
  ])
})

test('order.cancelled: says the previous status and whether a payment is refunded', async () => {
  const buyer = newBuyer()
  await fixture.cancel(buyer, (await fixture.create(seller, buyer)).id)
  await fixture.cancel(buyer, await fixture.paid(seller, buyer))
  const disputed = await fixture.delivered(seller, buyer)
  await fixture.dispute(buyer, disputed)
  await fixture.refund(seller, disputed)
  const cancelled = (await readBy(buyer)).filter(([event]) => event === 'order.cancelled')
  expect(cancelled.map(([, data]) => data)).toEqual([
    { previous_status: 'quoted', refunded: false },
    { previous_status: 'paid', refunded: true },
    { previous_status: 'disputed', refunded: true },
  ])
})

test('deadlines: the buyer gets order.completed after the review period and order.cancelled after the turnaround', async () => {
  const [reviewer, waiter] = [newBuyer(), newBuyer()]
  await fixture.delivered(seller, reviewer)
  await fixture.paid(seller, waiter)
  fixture.clock.advance(73 * HOUR)
  await fixture.sweepDue()
  expect((await readBy(reviewer)).at(-1)).toEqual(['order.completed', { outcome: 'released' }])
  expect((await readBy(waiter)).at(-1)).toEqual([
    'order.cancelled',
    { previous_status: 'paid', refunded: true },
  ])
})

/** An order that comes with its payment, as x402 places it. */
async function placeByX402(tx: Tx, from: TestBuyer, buyer?: Buyer): Promise<OrderId> {
  const reference = fixture.send(from.wallet.key)
  const question = { reference, minAmount: PRICE, notBefore: new Date(0), notAfter: new Date(8.64e15) }
  const transfer = await findPayment(fixture.ctx, NETWORK, question)
  assert(transfer !== undefined)
  const paid = { network: NETWORK, transfer, due: PRICE, payoutWaitMs: null, buyer } as const
  const { id } = await placePurchase(fixture.ctx, tx, seller.listing, paid)
  return id
}

test('x402: the wallet that paid gets order.paid, and without a review order.delivered with order.completed', async () => {
  const payer = newBuyer()
  const id = await fixture.ctx.transact((tx) => placeByX402(tx, payer))
  expect(await readBy(payer)).toEqual([PAID])
  await fixture.deliver(seller, id)
  expect(await readBy(payer)).toEqual([
    PAID,
    ['order.delivered', { review_ends_at: null }],
    ['order.completed', { outcome: 'released' }],
  ])
})

test('x402: the events of an order for an agent or a user are theirs, and not those of the wallet that paid', async () => {
  const payer = newBuyer()
  const { agent } = await makeListedAgent(fixture.ctx)
  for (const buyer of [agentActor(agent.id), userActor('user-x402')]) {
    const id = await fixture.ctx.transact((tx) => placeByX402(tx, payer, buyerOf(buyer)))
    await fixture.deliver(seller, id)
    expect(await readBy(buyer)).toEqual([PAID, ['order.delivered', { review_ends_at: inHours(48) }]])
  }
  expect(await eventsOf(payer)).toEqual([])
})

test('reorganization: the buyer gets order.payment_reversed, and order.paid when the transfer is included again', async () => {
  const buyer = newBuyer()
  await fixture.paid(seller, buyer)
  fixture.chain.reorg(1)
  fixture.chain.finalize(0)
  fixture.clock.advance(6 * SECOND)
  await fixture.recheck()
  expect(await readBy(buyer)).toEqual([PAID, ['order.payment_reversed', { previous_status: 'paid' }]])
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  fixture.clock.advance(3 * SECOND)
  await fixture.finish()
  expect(await namesReadBy(buyer)).toEqual(['order.paid', 'order.payment_reversed', 'order.paid'])
})

test('a rolled back step leaves no event and no gap', async () => {
  const buyer = newBuyer()
  const id = await fixture.delivered(seller, buyer)
  const placing = fixture.ctx.transact(async (tx) => {
    await placeByX402(tx, buyer)
    throw new Error('rolled back')
  })
  await expect(placing).rejects.toThrow('rolled back')
  await fixture.approve(buyer, id)
  expect((await eventsOf(buyer)).map(({ seq, event }) => [seq, event])).toEqual([
    [1n, 'order.paid'],
    [2n, 'order.delivered'],
    [3n, 'order.completed'],
  ])
})

test('reversals beside payments of the same buyer and listing: no deadlock', async () => {
  const buyer = newBuyer()
  const before = await deadlocks()
  const done: OrderId[] = []
  for (let n = 0; n < 10; n++) {
    const id = await fixture.delivered(seller, buyer)
    await fixture.approve(buyer, id)
    done.push(id)
  }
  fixture.chain.reorg(10)
  fixture.chain.finalize(0)
  fixture.clock.advance(6 * SECOND)
  const later = Array.from({ length: 10 }, () => fixture.send(buyer.wallet.key))
  await Promise.all([
    fixture.recheck(),
    ...later.map(async (reference) => {
      const { id } = await fixture.create(seller, buyer)
      await fixture.pay(buyer, id, reference)
      await fixture.deliver(seller, id)
      await fixture.approve(buyer, id)
    }),
  ])
  // One sweep checks a part of the transfers.
  for (let n = 0; n < 3; n++) {
    fixture.clock.advance(6 * SECOND)
    await fixture.recheck()
  }
  expect(await deadlocks()).toBe(before)
  const reversed = (await eventsOf(buyer)).filter(({ event }) => event === 'order.payment_reversed')
  expect(reversed.map(({ orderId }) => orderId).toSorted()).toEqual(done.toSorted())
})

test(`${ORDERS} concurrent orders of one buyer: numbers without gaps, each read once in order, no deadlock`, async () => {
  const buyer = newBuyer()
  const sellers = [seller, await fixture.makeSeller()] as const
  const before = await deadlocks()
  const payments = Array.from({ length: ORDERS }, () => fixture.send(buyer.wallet.key))
  const seen: { seq: bigint; order: string; event: string }[] = []
  let writing = true
  const reading = (async () => {
    for (let after = 0n, isLast = false; ; ) {
      isLast = !writing
      const events = await eventsOf(buyer, after, 7)
      seen.push(...events.map(({ seq, orderId, event }) => ({ seq, order: orderId, event })))
      after = events.at(-1)?.seq ?? after
      if (isLast && events.length === 0) return
    }
  })()
  const ids = await Promise.all(
    payments.map(async (reference, n) => {
      const of = sellers[n % 2] ?? seller
      const { id } = await fixture.create(of, buyer)
      await fixture.pay(buyer, id, reference)
      await fixture.deliver(of, id)
      if (n % 3 === 0) await fixture.dispute(buyer, id)
      await (n % 3 === 0 ? fixture.refund(of, id) : fixture.approve(buyer, id))
      return id
    }),
  )
  writing = false
  await reading
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 3 * ORDERS }, (_, n) => BigInt(n + 1)))
  const byOrder = Map.groupBy(seen, ({ order }) => order)
  for (const [n, id] of ids.entries())
    expect(byOrder.get(id)?.map(({ event }) => event)).toEqual([
      'order.paid',
      'order.delivered',
      n % 3 === 0 ? 'order.cancelled' : 'order.completed',
    ])
  expect(await deadlocks()).toBe(before)
})

test('an agent reads what it buys apart from what it sells', async () => {
  const { agent } = await makeListedAgent(fixture.ctx)
  const buyer = agentActor(agent.id)
  const { id } = await fixture.create(quotingSeller, buyer)
  await fixture.quote(quotingSeller, id)
  expect(await namesReadBy(buyer)).toEqual(['order.quoted'])
  expect(await findEventsAfter(fixture.db, { kind: 'agent', key: agent.id }, 0n, 10)).toEqual([])
})
