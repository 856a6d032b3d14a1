import type { OrderId } from '@market/kernel/ids'
import { balanceOf, suspense } from '@market/money/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  NETWORK,
  newBuyer,
  type OrderBooks,
  openOrderBooks,
  PRICE,
  type Shop,
} from '../orders/order-books.ts'
import { outcome } from './till.ts'

/** Longer than the pause between two looks at a payment. */
const PAUSE_MS = 3_000

let books: OrderBooks
let shop: Shop
beforeAll(async () => {
  books = await openOrderBooks()
  shop = await books.openShop()
})
afterAll(() => books.stop())

const pendingOf = async (id: OrderId) =>
  books.db
    .selectFrom('orders')
    .select(['status', 'pending_reference'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

const wordsTo = (wallet: string) =>
  books.db
    .selectFrom('notifications')
    .select(['kind', 'title', 'body'])
    .where('recipient', '=', `wallet:${wallet}`)
    .orderBy('id')
    .execute()

/** Named after the order was cancelled: the call is rejected, and the worker sees to the money. */
async function nameLate(buyer: ReturnType<typeof newBuyer>, id: OrderId, reference: string): Promise<void> {
  expect(await outcome(books.pay(buyer, id, reference))).toBe('illegal_transition')
  expect(await pendingOf(id)).toEqual({ status: 'cancelled', pending_reference: reference })
  books.clock.advance(PAUSE_MS)
  await books.finish()
}

test('cancelled order: the first late transfer is refunded, a second stays in suspense and the buyer is notified', async () => {
  const buyer = newBuyer()
  const { id } = await books.create(shop, buyer)
  await books.cancel(buyer, id)
  await nameLate(buyer, id, books.send(buyer.wallet))
  expect(await books.moneyOf([id])).toMatchObject([{ escrow: 0n, refund: PRICE }])
  expect(await wordsTo(buyer.wallet)).toEqual([])

  const second = books.send(buyer.wallet, 7_000_000n)
  await books.watch()
  expect(await balanceOf(books.db, suspense(NETWORK, second))).toBe(7_000_000n)
  await nameLate(buyer, id, second)
  expect(await pendingOf(id)).toEqual({ status: 'cancelled', pending_reference: null })
  expect(await balanceOf(books.db, suspense(NETWORK, second))).toBe(7_000_000n)
  expect(await books.moneyOf([id])).toMatchObject([{ escrow: 0n, refund: PRICE }])
  expect(await wordsTo(buyer.wallet)).toEqual([
    {
      kind: 'order.payment_failed',
      title: expect.stringContaining('was not refunded'),
      body: `To get ${second} back, contact the marketplace. This was already paid by another transfer`,
    },
  ])
  await books.expectBalanced()
})
