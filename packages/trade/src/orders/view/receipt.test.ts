import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Transfer } from '@market/money/payments'
import type { Payout } from '@market/money/payouts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Order } from '../order.ts'
import type { PaymentMethod } from '../policy.ts'
import { type ReceiptView, receiptOf } from './receipt.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

const orderOf = (
  price: Usdc,
  ended: Pick<Order, 'status' | 'agentPart'>,
  paymentMethod: PaymentMethod = null,
): ReceiptView['order'] =>
  ({
    ...{ id: 'ord_1' as OrderId, listingId: 'svc_1' as ListingId, agentId: 'agt_1' as AgentId },
    ...{ price, paidAt: NOW, quotaTotal: 0, paymentMethod, forPrincipal: false, ...ended },
  }) as ReceiptView['order']

const paymentOf = (amount: Usdc) => ({ amount, state: 'final' }) as Transfer
const payout = (kind: Payout['kind'], state: Payout['state']) => ({ kind, state }) as Payout

const part = (price: Usdc, bps: number): Usdc => usdc((price * BigInt(bps)) / 10_000n)

test('receipt: the agent’s share, the fee and the refund are the price, for any decision', () => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 1_100_000_000_000n).map(usdc),
      fc.integer({ min: 0, max: 10_000 }),
      fc.constantFrom<PaymentMethod>(null, 'x402', 'bounty'),
      (price, bps, method) => {
        const agentPart = part(price, bps)
        const order = orderOf(
          price,
          { status: agentPart === 0n ? 'cancelled' : 'completed', agentPart },
          method,
        )
        const { decided } = receiptOf(order, paymentOf(price), [])
        expect((decided?.agent ?? 0n) + (decided?.fee ?? 0n) + (decided?.refund ?? 0n)).toBe(price)
      },
    ),
  )
})

test('receipt: says no share and is not final before the order ends', () => {
  for (const status of ['paid', 'in_progress', 'delivered', 'revision_requested', 'disputed'] as const) {
    const order = orderOf(usdc(5_000_000n), { status, agentPart: null })
    expect(receiptOf(order, paymentOf(usdc(5_000_000n)), [])).toMatchObject({
      decided: undefined,
      isFinal: false,
      sent: [],
    })
  }
})

test('receipt: is final when every payment out of the order is', () => {
  const price = usdc(5_000_000n)
  const released = orderOf(price, { status: 'completed', agentPart: price })
  const split = orderOf(price, { status: 'completed', agentPart: usdc(1_000_000n) })
  const refunded = orderOf(price, { status: 'cancelled', agentPart: usdc(0n) })
  const isFinal = (order: ReceiptView['order'], ...payouts: Payout[]) =>
    receiptOf(order, paymentOf(price), payouts).isFinal
  expect(isFinal(released)).toBe(false)
  for (const state of ['queued', 'held', 'signed', 'failed'] as const)
    expect(isFinal(released, payout('payout', state))).toBe(false)
  expect(isFinal(released, payout('payout', 'final'))).toBe(true)
  expect(isFinal(released, payout('payout', 'final'), payout('surplus', 'held'))).toBe(false)
  expect(isFinal(split, payout('payout', 'final'))).toBe(false)
  expect(isFinal(split, payout('payout', 'final'), payout('refund', 'final'))).toBe(true)
  // An arbiter took the award back, and the buyer was refunded.
  expect(isFinal(refunded, payout('payout', 'withdrawn'), payout('refund', 'final'))).toBe(true)
})
