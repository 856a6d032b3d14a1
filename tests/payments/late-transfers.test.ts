import type { OrderId } from '@market/kernel/ids'
import { balanceOf, suspense } from '@market/money/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  NETWORK,
  newBuyer,
  type OrderFixture,
  openOrderFixture,
  PRICE,
  type Seller,
} from '../orders/order-fixture.ts'
import { pendingOf as pendingIn } from '../support/named-transfers.ts'
import { outcome } from './payment-fixture.ts'

/** Longer than the pause between two looks at a payment. */
const PAUSE_MS = 3_000

let fixture: OrderFixture
let seller: Seller
beforeAll(async () => {
  fixture = await openOrderFixture()
  seller = await fixture.makeSeller()
})
afterAll(() => fixture.stop())

const pendingOf = async (id: OrderId) => ({
  status: (await fixture.read(id)).status,
  pending_reference: await pendingIn(fixture.db, id),
})

const wordsTo = (wallet: string) =>
  fixture.db
    .selectFrom('notifications')
    .select(['kind', 'title', 'body'])
    .where('recipient', '=', `wallet:${wallet}`)
    .orderBy('id')
    .execute()

/** Named after the order was cancelled: the call is rejected, and the worker sees to the money. */
async function nameLate(buyer: ReturnType<typeof newBuyer>, id: OrderId, reference: string): Promise<void> {
  expect(await outcome(fixture.pay(buyer, id, reference))).toBe('illegal_transition')
  expect(await pendingOf(id)).toEqual({ status: 'cancelled', pending_reference: reference })
  fixture.clock.advance(PAUSE_MS)
  await fixture.finish()
}

test('cancelled order: the first late transfer is refunded, a second stays in suspense and the buyer is notified', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(seller, buyer)
  await fixture.cancel(buyer, id)
  await nameLate(buyer, id, fixture.send(buyer.wallet.key))
  expect(await fixture.moneyOf([id])).toMatchObject([{ escrow: 0n, refund: PRICE }])
  expect(await wordsTo(buyer.wallet.key)).toEqual([])

  const second = fixture.send(buyer.wallet.key, 7_000_000n)
  await fixture.watch()
  expect(await balanceOf(fixture.db, suspense(NETWORK, second))).toBe(7_000_000n)
  await nameLate(buyer, id, second)
  expect(await pendingOf(id)).toEqual({ status: 'cancelled', pending_reference: null })
  expect(await balanceOf(fixture.db, suspense(NETWORK, second))).toBe(7_000_000n)
  expect(await fixture.moneyOf([id])).toMatchObject([{ escrow: 0n, refund: PRICE }])
  expect(await wordsTo(buyer.wallet.key)).toEqual([
    {
      kind: 'order.payment_failed',
      title: expect.stringContaining('was not refunded'),
      body: `To get ${second} back, contact the marketplace. This was already paid by another transfer`,
    },
  ])
  await fixture.expectBalanced()
})
