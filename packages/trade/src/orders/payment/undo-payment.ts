import type { Needs } from '@market/core/context'
import { lockBuyerEvents } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { awaitedUntil, type ClaimedTransfer, findSubmission, openIntent } from '@market/money/payments'
import { countOrdered } from '@market/offers/listings'
import { undo, undoCancelled } from '../changes.ts'
import { notifyBuyer } from '../notifications.ts'
import type { Order } from '../order.ts'
import { paymentTerms } from '../policy.ts'
import { BY_CLOCK } from '../states.ts'
import { lockOrder, saveFields, saveOrder } from '../store.ts'
import { withdrawOrderPayouts } from './order-money.ts'

/** The same transfer usually comes back, and a second one would pay twice. */
const reasonOf = (now: Date): string =>
  `A reorganization of the chain removed the transfer that paid this order. Do not pay again yet: if the transfer is included again before ${awaitedUntil(now).toISOString()}, it pays the order. After that time, pay with another transfer.`

type Ctx = Needs<'clock' | 'ids'>

/** Reverses the payment of an order after a reorganisation. The order waits for the same transfer first. */
export async function undoPayment(ctx: Ctx, tx: Tx, transfer: ClaimedTransfer<'order'>): Promise<void> {
  const waiting = await reversePayment(ctx, tx, transfer)
  if (waiting === undefined) return
  await notifyBuyer(ctx, tx, waiting, {
    kind: 'order.payment_undone',
    title: `The payment for “${waiting.title}” was reversed`,
    body: waiting.paymentError ?? '',
  })
}

/** Undefined when the order does not wait for another payment: it is cancelled, or was not paid. */
export async function reversePayment(
  ctx: Ctx,
  tx: Tx,
  transfer: ClaimedTransfer<'order'>,
): Promise<Order<'accepted'> | undefined> {
  const order = await lockOrder(tx, transfer.purpose.id)
  // fix: reversal-locks-counter
  await lockBuyerEvents(tx, order.buyer)
  await withdrawOrderPayouts(ctx, tx, order, transfer)
  const now = ctx.clock.now()
  if (order.status !== 'cancelled' && !('payment' in order)) return undefined
  await awaitReconfirmation(ctx, tx, order, transfer)
  const { network, reference } = transfer
  if (order.status === 'cancelled') {
    await saveFields(tx, undoCancelled(order, { network, reference }), now)
    return undefined
  }
  if (order.listingId !== null) await countOrdered(tx, order.listingId, -1)
  await countOrders(tx, order.agentId, { total: -1 })
  // fix: reversed-order-waits
  const waiting = undo(order, now, reasonOf(now), { network, reference })
  return saveOrder(tx, order, waiting, { ...BY_CLOCK, action: 'undo', at: now })
}

/** A transfer that a reorganisation removed is usually mined again, a signed payment perhaps by another transaction. */
async function awaitReconfirmation(
  ctx: Ctx,
  tx: Tx,
  order: Order,
  { network, reference, payer, purpose }: ClaimedTransfer,
): Promise<void> {
  assert(payer !== null, `${reference} was paid by a wallet`)
  const submitted = await findSubmission(tx, { network, reference, payer })
  const notResubmitted = { bytes: null, gasAccount: null, nonce: null }
  const submission =
    submitted === undefined
      ? null
      : { ...submitted, settlement: { ...submitted.settlement, ...notResubmitted } }
  const terms = paymentTerms(order)
  await openIntent(ctx, tx, { purpose, network, reference, payers: [payer], ...terms, submission })
}
