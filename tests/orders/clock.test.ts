import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { balanceOf, payable, surplus } from '@market/money/ledger'
import { findPayment, recheckTransfers } from '@market/money/payments'
import { payoutIdOf } from '@market/money/payouts'
import { contestOrder, createReview } from '@market/trade/orders'
import { findReviewOf } from '@market/trade/reviews'
import { PURPOSES } from '@market/worker/payment-handlers'
import { sql } from 'kysely'
import { afterAll, afterEach, assert, beforeAll, expect, test } from 'vitest'
import { outcome } from '../payments/payment-fixture.ts'
import { placePurchase } from '../support/place-purchase.ts'
import {
  NETWORK,
  newBuyer,
  type OrderFixture,
  openOrderFixture,
  PRICE,
  type Seller,
} from './order-fixture.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

let fixture: OrderFixture
let seller: Seller
let quotingSeller: Seller
beforeAll(async () => {
  fixture = await openOrderFixture()
  seller = await fixture.makeSeller({ turnaroundHours: 2, maxRevisions: 1 })
  quotingSeller = await fixture.makeSeller({ priceType: 'quote', price: null })
})
afterAll(() => fixture.stop())
afterEach(() => fixture.expectBalanced())

const statusOf = async (id: OrderId) => (await fixture.read(id)).status

/** Two workers at once, as there always are. */
const sweepTwice = () => Promise.all([fixture.sweepDue(), fixture.sweepDue()])

const actionsOf = async (id: OrderId) => {
  const steps = await fixture.db
    .selectFrom('order_steps')
    .select(['action', 'actor'])
    .where('order_id', '=', id)
    .orderBy('n')
    .execute()
  return steps.map(({ action, actor }) => `${action} by ${actor.split(':')[0]}`)
}

test('deadlines: releases a delivery once, at 48:00:00 and not at 47:59:59', async () => {
  const buyer = newBuyer()
  const id = await fixture.delivered(seller, buyer)
  fixture.clock.advance(48 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('delivered')
  fixture.clock.advance(SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('completed')
  expect(await actionsOf(id)).toEqual(['pay by wallet', 'deliver by agent', 'release by clock'])
  const events = await fixture.db.selectFrom('events').select('event').where('order_id', '=', id).execute()
  expect(events.filter(({ event }) => event === 'order.completed')).toHaveLength(1)
  await fixture.expectWhole([id])
})

test('deadlines: an order that another worker has locked is left to it, and the next ones do not wait', async () => {
  const buyer = newBuyer()
  const [first, second] = [await fixture.delivered(seller, buyer), await fixture.delivered(seller, buyer)]
  fixture.clock.advance(48 * HOUR)
  await fixture.db.transaction().execute(async (tx) => {
    await sql`select from orders where id = ${first} for update`.execute(tx)
    expect(await fixture.sweepDue()).toBe(1)
    expect([await statusOf(first), await statusOf(second)]).toEqual(['delivered', 'completed'])
  })
  expect(await fixture.sweepDue()).toBe(1)
  expect(await statusOf(first)).toBe('completed')
  await fixture.expectWhole([first, second])
})

test('dispute and revision: rejected after the end of the review, also before a worker releases the order', async () => {
  const buyer = newBuyer()
  const [one, two] = [await fixture.delivered(seller, buyer), await fixture.delivered(seller, buyer)]
  fixture.clock.advance(48 * HOUR - 1)
  expect(await outcome(fixture.dispute(buyer, one))).toMatchObject({ status: 'disputed' })
  fixture.clock.advance(1)
  expect(await outcome(fixture.dispute(buyer, two))).toBe('illegal_transition')
  expect(await outcome(fixture.revise(buyer, two))).toBe('illegal_transition')
  await fixture.sweepDue()
  expect(await statusOf(two)).toBe('completed')
  await fixture.expectWhole([one, two])
})

test('dispute: pauses the review time', async () => {
  const buyer = newBuyer()
  const id = await fixture.delivered(seller, buyer)
  fixture.clock.advance(10 * HOUR)
  await fixture.dispute(buyer, id)
  fixture.clock.advance(1_000 * HOUR)
  await sweepTwice()
  expect(await statusOf(id)).toBe('disputed')
  await fixture.deliver(seller, id)
  fixture.clock.advance(38 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('delivered')
  fixture.clock.advance(SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('completed')
  await fixture.expectWhole([id])
})

test('review time: a replaced delivery leaves at least a day; a declined revision leaves the remaining time', async () => {
  const buyer = newBuyer()
  const replaced = await fixture.delivered(seller, buyer)
  fixture.clock.advance(40 * HOUR)
  const again = await fixture.deliver(seller, replaced)
  assert(again.status === 'delivered')
  expect(again.reviewEndsAt.getTime() - fixture.clock.now().getTime()).toBe(24 * HOUR)

  const revised = await fixture.delivered(seller, buyer)
  await fixture.revise(buyer, revised)
  await fixture.deliver(seller, revised)
  fixture.clock.advance(30 * HOUR)
  await fixture.revise(buyer, revised)
  fixture.clock.advance(HOUR)
  const declined = await fixture.decline(seller, revised)
  expect(declined.reviewEndsAt.getTime() - fixture.clock.now().getTime()).toBe(18 * HOUR)
})

test('deadlines: refunds an undelivered order once, exactly a day after its deadline', async () => {
  const buyer = newBuyer()
  const id = await fixture.paid(seller, buyer)
  fixture.clock.advance(26 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('paid')
  fixture.clock.advance(SECOND)
  expect(await outcome(fixture.deliver(seller, id))).toBe('illegal_transition')
  await sweepTwice()
  expect(await fixture.read(id)).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
  expect(await actionsOf(id)).toEqual(['pay by wallet', 'overdue by clock'])
  await fixture.expectWhole([id])
})

test('revision: restarts the turnaround time', async () => {
  const buyer = newBuyer()
  const id = await fixture.delivered(seller, buyer)
  fixture.clock.advance(20 * HOUR)
  await fixture.revise(buyer, id)
  fixture.clock.advance(26 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('revision_requested')
  fixture.clock.advance(SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('cancelled')
  await fixture.expectWhole([id])
})

test('quote: an expired quote returns to pending_quote and cannot be paid', async () => {
  const buyer = newBuyer()
  const [swept, paid] = [
    await fixture.create(quotingSeller, buyer),
    await fixture.create(quotingSeller, buyer),
  ]
  for (const { id } of [swept, paid]) await fixture.quote(quotingSeller, id)
  fixture.clock.advance(72 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(swept.id)).toBe('quoted')
  fixture.clock.advance(SECOND)
  expect(await outcome(fixture.pay(buyer, paid.id, fixture.send(buyer.wallet.key)))).toBe(
    'illegal_transition',
  )
  await sweepTwice()
  expect(await statusOf(swept.id)).toBe('pending_quote')
  expect(await actionsOf(swept.id)).toEqual(['quote by agent', 'expire by clock'])
  const [row] = await fixture.moneyOf([swept.id])
  expect(row?.price).toBeNull()
})

test('accept: after a day a listed price is quoted again and payable; a quoted price returns to pending_quote', async () => {
  const buyer = newBuyer()
  const [listed, quoted] = [await fixture.create(seller, buyer), await fixture.create(quotingSeller, buyer)]
  await fixture.quote(quotingSeller, quoted.id, PRICE, 1)
  for (const { id } of [listed, quoted]) await fixture.accept(buyer, id)
  fixture.clock.advance(24 * HOUR - SECOND)
  await sweepTwice()
  expect([await statusOf(listed.id), await statusOf(quoted.id)]).toEqual(['accepted', 'accepted'])
  fixture.clock.advance(SECOND)
  await sweepTwice()
  expect([await statusOf(listed.id), await statusOf(quoted.id)]).toEqual(['quoted', 'pending_quote'])
  await fixture.pay(buyer, listed.id, fixture.send(buyer.wallet.key))
  expect(await statusOf(listed.id)).toBe('paid')
})

test('accept: does not shorten the validity of a quote', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(quotingSeller, buyer)
  const { priceUntil } = await fixture.quote(quotingSeller, id)
  expect((await fixture.accept(buyer, id)).priceUntil).toEqual(priceUntil)
})

test('pay: a pending transfer pays the order after the price has expired', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(quotingSeller, buyer)
  await fixture.quote(quotingSeller, id, PRICE, 1)
  fixture.clock.advance(23.9 * HOUR)
  await fixture.sweepDue()
  await fixture.quote(quotingSeller, id, PRICE, 1)
  const reference = fixture.send(buyer.wallet.key)
  fixture.chain.forcedObservation = { kind: 'pending', reason: 'unconfirmed' }
  expect(await fixture.pay(buyer, id, reference)).toMatchObject({
    status: 'accepted',
    pending: { reference },
  })
  fixture.clock.advance(30 * 60 * SECOND)
  await fixture.finish()
  expect(await statusOf(id)).toBe('accepted')
  fixture.chain.forcedObservation = undefined
  // One that no block had for long is looked for once a minute.
  fixture.clock.advance(61 * SECOND)
  await Promise.all([fixture.finish(), fixture.finish()])
  expect(await statusOf(id)).toBe('paid')
  await fixture.expectWhole([id])
})

test('pay: a transfer that is not found expires after an hour, and another pay does not extend the price', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(seller, buyer)
  const nowhere = (digit: string) => `0x${digit.repeat(64)}`
  await fixture.pay(buyer, id, nowhere('1'))
  fixture.clock.advance(HOUR + SECOND)
  await fixture.finish()
  expect(await fixture.read(id)).toMatchObject({
    status: 'accepted',
    pending: null,
    paymentError: expect.any(String),
  })
  fixture.clock.advance(22.5 * HOUR)
  await fixture.pay(buyer, id, nowhere('2'))
  fixture.clock.advance(0.9 * HOUR)
  expect(await outcome(fixture.pay(buyer, id, nowhere('3')))).toBe('price_expired')
  fixture.clock.advance(0.2 * HOUR)
  await fixture.finish()
  await fixture.sweepDue()
  expect(await statusOf(id)).toBe('quoted')
})

test('cancel: refunds a transfer that becomes final after the cancellation', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(seller, buyer)
  const reference = fixture.send(buyer.wallet.key, PRICE + 7n)
  fixture.chain.forcedObservation = { kind: 'pending', reason: 'in_mempool' }
  await fixture.pay(buyer, id, reference)
  await fixture.cancel(buyer, id)
  fixture.chain.forcedObservation = undefined
  fixture.clock.advance(3 * SECOND)
  await Promise.all([fixture.finish(), fixture.finish()])
  expect(await fixture.moneyOf([id])).toMatchObject([{ status: 'cancelled', escrow: 0n, refund: PRICE + 7n }])
})

const surplusOf = (id: OrderId) => payable(NETWORK, payoutIdOf('surplus', `${id}:surplus:${NETWORK}`))

test('pay: refunds a surplus above 0.10 USD once the payment is final', async () => {
  const buyer = newBuyer()
  const pay = async (tooMuch: bigint) => {
    const { id } = await fixture.create(seller, buyer)
    const reference = fixture.send(buyer.wallet.key, PRICE + tooMuch)
    await fixture.pay(buyer, id, reference)
    await fixture.expectWhole([id])
    return { id, reference }
  }
  const little = await pay(100_000n)
  expect(await balanceOf(fixture.db, surplus(NETWORK, little.reference))).toBe(100_000n)
  expect(await balanceOf(fixture.db, surplusOf(little.id))).toBe(0n)
  const much = await pay(100_001n)
  expect(await balanceOf(fixture.db, surplus(NETWORK, much.reference))).toBe(0n)
  expect(await balanceOf(fixture.db, surplusOf(much.id))).toBe(100_001n)
  const row = await fixture.db
    .selectFrom('payouts')
    .select(['payee', 'purpose', 'state'])
    .where('kind', '=', 'surplus')
    .executeTakeFirstOrThrow()
  expect(row).toEqual({ payee: buyer.wallet.key, purpose: `order:${much.id}`, state: 'queued' })
})

/** The final chain is past the block of a transfer that a reorganization removed, so it is reversed. */
async function missOut(): Promise<void> {
  fixture.chain.finalize(0)
  fixture.clock.advance(6 * SECOND)
  await recheckTransfers(fixture.ctx, PURPOSES)
}

test('reorganization: reverses the payment with its effects, and the order can be paid again', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(seller, buyer)
  const reference = fixture.send(buyer.wallet.key, usdc(PRICE + 500_000n))
  await fixture.pay(buyer, id, reference)
  await fixture.deliver(seller, id)
  await fixture.approve(buyer, id)
  await fixture.expectWhole([id])
  fixture.chain.reorg(1)
  await missOut()
  expect(await fixture.read(id)).toMatchObject({ status: 'accepted', paymentError: expect.any(String) })
  expect(await balanceOf(fixture.db, surplusOf(id))).toBe(0n)
  await fixture.expectWhole([id])
  await fixture.pay(buyer, id, fixture.send(buyer.wallet.key, PRICE + 200_000n))
  await fixture.deliver(seller, id)
  await fixture.approve(buyer, id)
  expect(await balanceOf(fixture.db, surplusOf(id))).toBe(200_000n)
  await fixture.expectWhole([id])
  await fixture.expectReachable([id])
})

test('reorganization: the review of a reversed order is removed from every rating, and is possible again later', async () => {
  const rated = await fixture.makeSeller()
  const buyer = newBuyer()
  const { id } = await fixture.create(rated, buyer)
  const rate = (rating: 1 | 5) => createReview(fixture.ctx, buyer, { orderId: id, rating, comment: '' })
  const completeWith = async (reference: string) => {
    await fixture.pay(buyer, id, reference)
    await fixture.deliver(rated, id)
    await fixture.approve(buyer, id)
  }
  const ratingsOf = async () => {
    const { id: listingId, agentId } = rated.listing
    const { rows } = await sql`
      select rating_sum, rating_count, stars from agents where id = ${agentId}
      union all select rating_sum, rating_count, stars from listings where id = ${listingId}
      union all select coalesce(sum(amount), 0), (select count(*) from activity where kind = 'review' and agent_id = ${agentId}), null
        from statistic_changes where name = 'reviews'`.execute(fixture.db)
    const numbers = (values: object) => Object.values(values).map(Number)
    return rows.map((row) => {
      const { stars, ...sums } = row as { stars: number[] | null }
      return [...numbers(sums), ...(stars ?? [])]
    })
  }
  await completeWith(fixture.send(buyer.wallet.key))
  await rate(1)
  expect(await ratingsOf()).toEqual([
    [1, 1, 1, 0, 0, 0, 0],
    [1, 1, 1, 0, 0, 0, 0],
    [1, 1],
  ])
  fixture.chain.reorg(1)
  await missOut()
  expect((await fixture.read(id)).status).toBe('accepted')
  expect(await findReviewOf(fixture.db, id)).toBeUndefined()
  expect(await ratingsOf()).toEqual([
    [0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0],
    [0, 0],
  ])
  await completeWith(fixture.send(buyer.wallet.key))
  expect(await rate(5)).toMatchObject({ rating: 5 })
})

test('reorganization: the order waits an hour for the same transfer, says not to pay again, and is paid when it returns', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(seller, buyer)
  const reference = fixture.send(buyer.wallet.key)
  await fixture.pay(buyer, id, reference)
  fixture.chain.reorg(1)
  await missOut()
  const until = new Date(fixture.clock.now().getTime() + HOUR).toISOString()
  const undone = await fixture.read(id)
  expect(undone).toMatchObject({ status: 'accepted', pending: { reference } })
  if (undone.status !== 'accepted') throw new Error('not accepted')
  expect(undone.paymentError).toContain(
    `Do not pay again yet: if the transfer is included again before ${until}`,
  )
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  fixture.clock.advance(3 * SECOND)
  await fixture.finish()
  expect(await fixture.moneyOf([id])).toMatchObject([{ status: 'paid', escrow: PRICE }])
})

test('reorganization: after an hour without the transfer the order asks for another payment', async () => {
  const buyer = newBuyer()
  const id = await fixture.paid(seller, buyer)
  fixture.chain.reorg(1)
  await missOut()
  fixture.clock.advance(HOUR + 3 * SECOND)
  await fixture.finish()
  expect(await fixture.read(id)).toMatchObject({
    status: 'accepted',
    pending: null,
    paymentError: 'The transfer was not found on the chain within an hour. Pay with another transfer.',
  })
  await fixture.pay(buyer, id, fixture.send(buyer.wallet.key))
  expect(await fixture.moneyOf([id])).toMatchObject([{ status: 'paid', escrow: PRICE }])
})

test('reorganization: the same transfer, included again, pays the agent and the platform again', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(seller, buyer)
  const reference = fixture.send(buyer.wallet.key, PRICE)
  const complete = async () => {
    await fixture.pay(buyer, id, reference)
    await fixture.deliver(seller, id)
    await fixture.approve(buyer, id)
    await fixture.expectWhole([id])
    expect(await fixture.moneyOf([id])).toMatchObject([{ status: 'completed', escrow: 0n }])
  }
  await complete()
  fixture.chain.reorg(1)
  await missOut()
  expect(await statusOf(id)).toBe('accepted')
  // All that was taken back so far is mined again.
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  await complete()
})

/** A program's order, which is made by its payment and complete when it is delivered. */
async function hire(buyer: ReturnType<typeof newBuyer>, payoutWaitMs: number | null = null) {
  const reference = fixture.send(buyer.wallet.key, PRICE)
  const question = { reference, minAmount: PRICE, notBefore: new Date(0), notAfter: new Date(8.64e15) }
  const seen = await findPayment(fixture.ctx, NETWORK, question)
  if (seen === undefined) throw new Error('it was just sent')
  const paid = { network: NETWORK, transfer: seen, due: PRICE, payoutWaitMs } as const
  const { id } = await fixture.ctx.transact((tx) => placePurchase(fixture.ctx, tx, seller.listing, paid))
  await fixture.deliver(seller, id)
  return { id, reference }
}

/** And then its payment is taken back by the chain. */
async function hired(buyer: ReturnType<typeof newBuyer>) {
  const { id } = await hire(buyer)
  fixture.chain.reorg(1)
  await missOut()
  expect(await statusOf(id)).toBe('accepted')
  return id
}

test('reorganization: a contested order stays contested when its transfer is included again', async () => {
  const buyer = newBuyer()
  const { id } = await hire(buyer, 24 * HOUR)
  await fixture.ctx.transact((tx) => contestOrder(fixture.ctx, tx, id))
  const payoutOf = () =>
    fixture.db
      .selectFrom('payouts')
      .select(['state', 'hold_code'])
      .where('subject', '=', id)
      .where('kind', '=', 'payout')
      .execute()
  expect(await payoutOf()).toEqual([{ state: 'held', hold_code: 'contested' }])
  fixture.chain.reorg(1)
  await missOut()
  expect(await statusOf(id)).toBe('accepted')
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  fixture.clock.advance(3 * SECOND)
  await fixture.finish()
  expect(await fixture.moneyOf([id])).toMatchObject([{ status: 'completed', escrow: 0n, refund: 0n }])
  expect(await payoutOf()).toEqual([{ state: 'held', hold_code: 'contested' }])
  await fixture.expectReachable([id])
  expect(await actionsOf(id)).toEqual([
    'pay by wallet',
    'deliver by agent',
    'release by clock',
    'contest_payment by clock',
    'undo by clock',
    'pay by wallet',
    'restore_delivery by clock',
    'release by clock',
  ])
})

test('reorganization: an x402 delivery counts when its transfer is included again', async () => {
  const id = await hired(newBuyer())
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  fixture.clock.advance(3 * SECOND)
  await fixture.finish()
  expect(await fixture.moneyOf([id])).toMatchObject([{ status: 'completed', escrow: 0n, refund: 0n }])
  await fixture.expectReachable([id])
})

test('reorganization: refunds again when the transfer of a cancelled order is included again', async () => {
  const buyer = newBuyer()
  const id = await fixture.paid(seller, buyer)
  await fixture.cancel(buyer, id)
  fixture.chain.reorg(1)
  await missOut()
  expect(await fixture.moneyOf([id])).toMatchObject([{ outcome: 'unpaid', escrow: 0n, refund: 0n }])
  // All that was taken back so far is mined again.
  for (let n = 0; n < 2; n++) fixture.chain.mineAgain(0, 0n)
  await fixture.watch()
  fixture.clock.advance(3 * SECOND)
  await fixture.finish()
  expect(await fixture.moneyOf([id])).toMatchObject([{ status: 'cancelled', escrow: 0n, refund: PRICE }])
})

test('pay: rejects a transfer below a price that changed while the chain was read', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(quotingSeller, buyer)
  await fixture.quote(quotingSeller, id, PRICE, 1)
  const reference = fixture.send(buyer.wallet.key)
  const find = fixture.chain.findTransfer.bind(fixture.chain)
  // While the node answers, the quote expires and the agent names a higher price.
  fixture.chain.findTransfer = async (question) => {
    const observation = await find(question)
    fixture.clock.advance(HOUR)
    await fixture.sweepDue()
    await fixture.quote(quotingSeller, id, usdc(PRICE * 2n))
    return observation
  }
  const paid = await outcome(fixture.pay(buyer, id, reference))
  fixture.chain.findTransfer = find
  expect(paid).toBe('underpaid')
  expect(await statusOf(id)).toBe('quoted')
})
