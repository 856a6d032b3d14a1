import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { balanceOf, payable, surplus } from '@market/money/ledger'
import { findPayment, lockTransfer, recheckTransfers } from '@market/money/payments'
import { payoutIdOf } from '@market/money/payouts'
import { cancelContested, finishPayments, placePaidOrder, undoPayment } from '@market/trade/orders'
import { undoRegistration } from '@market/trade/x402'
import { afterAll, afterEach, assert, beforeAll, expect, test } from 'vitest'
import { outcome } from '../payments/till.ts'
import { NETWORK, newBuyer, type OrderBooks, openOrderBooks, PRICE, type Shop } from './order-books.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

let books: OrderBooks
let shop: Shop
let asking: Shop
beforeAll(async () => {
  books = await openOrderBooks()
  shop = await books.openShop({ turnaroundHours: 2, maxRevisions: 1 })
  asking = await books.openShop({ priceType: 'quote', price: null })
})
afterAll(() => books.stop())
afterEach(() => books.expectBalanced())

const statusOf = async (id: OrderId) => (await books.read(id)).status

/** Two workers at once, as there always are. */
const sweepTwice = () => Promise.all([books.sweepDue(), books.sweepDue()])

const actionsOf = async (id: OrderId) => {
  const steps = await books.db
    .selectFrom('order_steps')
    .select(['action', 'actor'])
    .where('order_id', '=', id)
    .orderBy('n')
    .execute()
  return steps.map(({ action, actor }) => `${action} by ${actor.split(':')[0]}`)
}

test('deadlines: releases a delivery once, at 48:00:00 and not at 47:59:59', async () => {
  const buyer = newBuyer()
  const id = await books.delivered(shop, buyer)
  books.clock.advance(48 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('delivered')
  books.clock.advance(SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('completed')
  expect(await actionsOf(id)).toEqual(['pay by wallet', 'deliver by agent', 'release by clock'])
  const events = await books.db.selectFrom('events').select('event').where('order_id', '=', id).execute()
  expect(events.filter(({ event }) => event === 'order.completed')).toHaveLength(1)
  await books.expectWhole([id])
})

test('dispute and revision: rejected after the end of the review, also before a worker releases the order', async () => {
  const buyer = newBuyer()
  const [one, two] = [await books.delivered(shop, buyer), await books.delivered(shop, buyer)]
  books.clock.advance(48 * HOUR - 1)
  expect(await outcome(books.dispute(buyer, one))).toMatchObject({ status: 'disputed' })
  books.clock.advance(1)
  expect(await outcome(books.dispute(buyer, two))).toBe('illegal_transition')
  expect(await outcome(books.revise(buyer, two))).toBe('illegal_transition')
  await books.sweepDue()
  expect(await statusOf(two)).toBe('completed')
  await books.expectWhole([one, two])
})

test('dispute: pauses the review time', async () => {
  const buyer = newBuyer()
  const id = await books.delivered(shop, buyer)
  books.clock.advance(10 * HOUR)
  await books.dispute(buyer, id)
  books.clock.advance(1_000 * HOUR)
  await sweepTwice()
  expect(await statusOf(id)).toBe('disputed')
  await books.deliver(shop, id)
  books.clock.advance(38 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('delivered')
  books.clock.advance(SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('completed')
  await books.expectWhole([id])
})

test('review time: a replaced delivery leaves at least a day; a declined revision leaves the remaining time', async () => {
  const buyer = newBuyer()
  const replaced = await books.delivered(shop, buyer)
  books.clock.advance(40 * HOUR)
  const again = await books.deliver(shop, replaced)
  assert(again.status === 'delivered')
  expect(again.reviewEndsAt.getTime() - books.clock.now().getTime()).toBe(24 * HOUR)

  const revised = await books.delivered(shop, buyer)
  await books.revise(buyer, revised)
  await books.deliver(shop, revised)
  books.clock.advance(30 * HOUR)
  await books.revise(buyer, revised)
  books.clock.advance(HOUR)
  const declined = await books.decline(shop, revised)
  expect(declined.reviewEndsAt.getTime() - books.clock.now().getTime()).toBe(18 * HOUR)
})

test('deadlines: refunds an undelivered order once, exactly a day after its deadline', async () => {
  const buyer = newBuyer()
  const id = await books.paid(shop, buyer)
  books.clock.advance(26 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('paid')
  books.clock.advance(SECOND)
  expect(await outcome(books.deliver(shop, id))).toBe('illegal_transition')
  await sweepTwice()
  expect(await books.read(id)).toMatchObject({ status: 'cancelled', outcome: 'refunded' })
  expect(await actionsOf(id)).toEqual(['pay by wallet', 'overdue by clock'])
  await books.expectWhole([id])
})

test('revision: restarts the turnaround time', async () => {
  const buyer = newBuyer()
  const id = await books.delivered(shop, buyer)
  books.clock.advance(20 * HOUR)
  await books.revise(buyer, id)
  books.clock.advance(26 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('revision_requested')
  books.clock.advance(SECOND)
  await sweepTwice()
  expect(await statusOf(id)).toBe('cancelled')
  await books.expectWhole([id])
})

test('quote: an expired quote returns to pending_quote and cannot be paid', async () => {
  const buyer = newBuyer()
  const [swept, paid] = [await books.create(asking, buyer), await books.create(asking, buyer)]
  for (const { id } of [swept, paid]) await books.quote(asking, id)
  books.clock.advance(72 * HOUR - SECOND)
  await sweepTwice()
  expect(await statusOf(swept.id)).toBe('quoted')
  books.clock.advance(SECOND)
  expect(await outcome(books.pay(buyer, paid.id, books.send(buyer.wallet)))).toBe('illegal_transition')
  await sweepTwice()
  expect(await statusOf(swept.id)).toBe('pending_quote')
  expect(await actionsOf(swept.id)).toEqual(['quote by agent', 'expire by clock'])
  const [row] = await books.moneyOf([swept.id])
  expect(row?.price).toBeNull()
})

test('accept: after a day a listed price is quoted again and payable; a quoted price returns to pending_quote', async () => {
  const buyer = newBuyer()
  const [listed, quoted] = [await books.create(shop, buyer), await books.create(asking, buyer)]
  await books.quote(asking, quoted.id, PRICE, 1)
  for (const { id } of [listed, quoted]) await books.accept(buyer, id)
  books.clock.advance(24 * HOUR - SECOND)
  await sweepTwice()
  expect([await statusOf(listed.id), await statusOf(quoted.id)]).toEqual(['accepted', 'accepted'])
  books.clock.advance(SECOND)
  await sweepTwice()
  expect([await statusOf(listed.id), await statusOf(quoted.id)]).toEqual(['quoted', 'pending_quote'])
  await books.pay(buyer, listed.id, books.send(buyer.wallet))
  expect(await statusOf(listed.id)).toBe('paid')
})

test('accept: does not shorten the validity of a quote', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(asking, buyer)
  const { priceUntil } = await books.quote(asking, id)
  expect((await books.accept(buyer, id)).priceUntil).toEqual(priceUntil)
})

test('pay: a pending transfer pays the order after the price has expired', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(asking, buyer)
  await books.quote(asking, id, PRICE, 1)
  books.clock.advance(23.9 * HOUR)
  await books.sweepDue()
  await books.quote(asking, id, PRICE, 1)
  const reference = books.send(buyer.wallet)
  books.chain.lie = { kind: 'pending', reason: 'unconfirmed' }
  expect(await books.pay(buyer, id, reference)).toMatchObject({ status: 'accepted', pending: { reference } })
  books.clock.advance(30 * 60 * SECOND)
  await books.finish()
  expect(await statusOf(id)).toBe('accepted')
  books.chain.lie = undefined
  books.clock.advance(3 * SECOND)
  await Promise.all([books.finish(), books.finish()])
  expect(await statusOf(id)).toBe('paid')
  await books.expectWhole([id])
})

test('pay: a transfer that is not found expires after an hour, and another pay does not extend the price', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(shop, buyer)
  const nowhere = (digit: string) => `0x${digit.repeat(64)}`
  await books.pay(buyer, id, nowhere('1'))
  books.clock.advance(HOUR + SECOND)
  await books.finish()
  expect(await books.read(id)).toMatchObject({
    status: 'accepted',
    pending: null,
    paymentError: expect.any(String),
  })
  books.clock.advance(22.5 * HOUR)
  await books.pay(buyer, id, nowhere('2'))
  books.clock.advance(0.9 * HOUR)
  expect(await outcome(books.pay(buyer, id, nowhere('3')))).toBe('price_expired')
  books.clock.advance(0.2 * HOUR)
  await books.finish()
  await books.sweepDue()
  expect(await statusOf(id)).toBe('quoted')
})

test('cancel: refunds a transfer that becomes final after the cancellation', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(shop, buyer)
  const reference = books.send(buyer.wallet, PRICE + 7n)
  books.chain.lie = { kind: 'pending', reason: 'in_mempool' }
  await books.pay(buyer, id, reference)
  await books.cancel(buyer, id)
  books.chain.lie = undefined
  books.clock.advance(3 * SECOND)
  await Promise.all([books.finish(), books.finish()])
  expect(await books.moneyOf([id])).toMatchObject([{ status: 'cancelled', escrow: 0n, refund: PRICE + 7n }])
})

const surplusOf = (id: OrderId) => payable(NETWORK, payoutIdOf('surplus', `${id}:surplus:${NETWORK}`))

test('pay: refunds a surplus above 0.10 USD once the payment is final', async () => {
  const buyer = newBuyer()
  const pay = async (tooMuch: bigint) => {
    const { id } = await books.create(shop, buyer)
    const reference = books.send(buyer.wallet, PRICE + tooMuch)
    await books.pay(buyer, id, reference)
    await books.expectWhole([id])
    return { id, reference }
  }
  const little = await pay(100_000n)
  expect(await balanceOf(books.db, surplus(NETWORK, little.reference))).toBe(100_000n)
  expect(await balanceOf(books.db, surplusOf(little.id))).toBe(0n)
  const much = await pay(100_001n)
  expect(await balanceOf(books.db, surplus(NETWORK, much.reference))).toBe(0n)
  expect(await balanceOf(books.db, surplusOf(much.id))).toBe(100_001n)
  const row = await books.db
    .selectFrom('payouts')
    .select(['payee', 'purpose', 'state'])
    .where('kind', '=', 'surplus')
    .executeTakeFirstOrThrow()
  expect(row).toEqual({ payee: buyer.wallet, purpose: `order:${much.id}`, state: 'queued' })
})

/** Long enough for a transfer that is missing to be gone. */
async function missOut(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    books.clock.advance(11 * 60 * SECOND)
    await recheckTransfers(books.ctx, { order: undoPayment, registration: undoRegistration })
  }
}

test('reorganization: reverses the payment with its effects, and the order can be paid again', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(shop, buyer)
  const reference = books.send(buyer.wallet, usdc(PRICE + 500_000n))
  await books.pay(buyer, id, reference)
  await books.deliver(shop, id)
  await books.approve(buyer, id)
  await books.expectWhole([id])
  books.chain.reorg(1)
  await missOut()
  expect(await books.read(id)).toMatchObject({ status: 'accepted', paymentError: expect.any(String) })
  expect(await balanceOf(books.db, surplusOf(id))).toBe(0n)
  await books.expectWhole([id])
  await books.pay(buyer, id, books.send(buyer.wallet, PRICE + 200_000n))
  await books.deliver(shop, id)
  await books.approve(buyer, id)
  expect(await balanceOf(books.db, surplusOf(id))).toBe(200_000n)
  await books.expectWhole([id])
  await books.expectReachable([id])
})

test('reorganization: the same transfer, included again, pays the agent and the platform again', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(shop, buyer)
  const reference = books.send(buyer.wallet, PRICE)
  const complete = async () => {
    await books.pay(buyer, id, reference)
    await books.deliver(shop, id)
    await books.approve(buyer, id)
    await books.expectWhole([id])
    expect(await books.moneyOf([id])).toMatchObject([{ status: 'completed', escrow: 0n }])
  }
  await complete()
  books.chain.reorg(1)
  await missOut()
  expect(await statusOf(id)).toBe('accepted')
  // All that was taken back so far is mined again.
  for (let n = 0; n < 5; n++) books.chain.mineAgain(0, 0n)
  await complete()
})

/** A program's order, which is made by its payment and complete when it is delivered. */
async function hire(buyer: ReturnType<typeof newBuyer>, { payerProven } = { payerProven: true }) {
  const reference = books.send(buyer.wallet, PRICE)
  const question = { reference, minAmount: PRICE, notBefore: new Date(0), notAfter: new Date(8.64e15) }
  const seen = await findPayment(books.ctx, NETWORK, question)
  if (seen === undefined) throw new Error('it was just sent')
  const bought = { listingId: shop.listing.id, brief: 'Observation.', requirementAnswers: {}, due: PRICE }
  const { id } = await books.ctx.transact((tx) =>
    placePaidOrder(books.ctx, tx, {
      ...bought,
      paymentMethod: 'x402',
      payerProven,
      network: NETWORK,
      transfer: seen,
    }),
  )
  await books.deliver(shop, id)
  return { id, reference }
}

/** And then its payment is taken back by the chain. */
async function hired(buyer: ReturnType<typeof newBuyer>) {
  const { id } = await hire(buyer)
  books.chain.reorg(1)
  await missOut()
  expect(await statusOf(id)).toBe('accepted')
  return id
}

test('reorganization: a disputed order stays disputed when its transfer is included again', async () => {
  const buyer = newBuyer()
  const { id, reference } = await hire(buyer, { payerProven: false })
  const contested = await books.ctx.transact(async (tx) => {
    const transfer = await lockTransfer(tx, NETWORK, reference)
    assert(transfer?.purpose?.kind === 'order')
    const { purpose } = transfer
    return cancelContested(books.ctx, tx, { ...transfer, purpose }, `wallet:${buyer.wallet}`)
  })
  expect([contested, await statusOf(id)]).toEqual(['disputed', 'disputed'])
  await books.expectWhole([id])
  books.chain.reorg(1)
  await missOut()
  expect(await statusOf(id)).toBe('accepted')
  for (let n = 0; n < 5; n++) books.chain.mineAgain(0, 0n)
  books.clock.advance(3 * SECOND)
  await books.finish()
  expect(await books.moneyOf([id])).toMatchObject([{ status: 'disputed', escrow: PRICE, refund: 0n }])
  await books.expectReachable([id])
  expect(await actionsOf(id)).toEqual([
    'pay by wallet',
    'deliver by agent',
    'release by clock',
    'contest by wallet',
    'undo by clock',
    'pay by wallet',
    'restore_delivery by clock',
    'restore_dispute by clock',
  ])
})

test('reorganization: an x402 delivery counts when its transfer is included again', async () => {
  const id = await hired(newBuyer())
  for (let n = 0; n < 5; n++) books.chain.mineAgain(0, 0n)
  books.clock.advance(3 * SECOND)
  await books.finish()
  expect(await books.moneyOf([id])).toMatchObject([{ status: 'completed', escrow: 0n, refund: 0n }])
  await books.expectReachable([id])
})

test('reorganization: an x402 authorization counts when another transaction includes it', async () => {
  const buyer = newBuyer()
  const id = await hired(buyer)
  const other = books.send(buyer.wallet, PRICE)
  for (let n = 0; n < 2; n++) {
    books.clock.advance(3 * SECOND)
    await finishPayments(books.ctx, async (order) => (order === id ? other : undefined))
  }
  expect(await books.moneyOf([id])).toMatchObject([{ status: 'completed', escrow: 0n, refund: 0n }])
  expect(await books.read(id)).toMatchObject({ payment: { reference: other } })
})

test('reorganization: refunds again when the transfer of a cancelled order is included again', async () => {
  const buyer = newBuyer()
  const id = await books.paid(shop, buyer)
  await books.cancel(buyer, id)
  books.chain.reorg(1)
  await missOut()
  expect(await books.moneyOf([id])).toMatchObject([{ outcome: 'unpaid', escrow: 0n, refund: 0n }])
  // All that was taken back so far is mined again.
  for (let n = 0; n < 2; n++) books.chain.mineAgain(0, 0n)
  await books.watch()
  books.clock.advance(3 * SECOND)
  await books.finish()
  expect(await books.moneyOf([id])).toMatchObject([{ status: 'cancelled', escrow: 0n, refund: PRICE }])
})

test('pay: rejects a transfer below a price that changed while the chain was read', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(asking, buyer)
  await books.quote(asking, id, PRICE, 1)
  const reference = books.send(buyer.wallet)
  const find = books.chain.findTransfer.bind(books.chain)
  // While the node answers, the quote expires and the agent names a higher price.
  books.chain.findTransfer = async (question) => {
    const look = await find(question)
    books.clock.advance(HOUR)
    await books.sweepDue()
    await books.quote(asking, id, usdc(PRICE * 2n))
    return look
  }
  const paid = await outcome(books.pay(buyer, id, reference))
  books.chain.findTransfer = find
  expect(paid).toBe('underpaid')
  expect(await statusOf(id)).toBe('quoted')
})
