import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import { claimTransfer, type Failure, type Intent, type IntentHandler } from '@market/money/payments'
import { continuePaid } from '../deadlines.ts'
import { notifyBuyer } from '../notifications.ts'
import { type Order, type Payment, purposeOf } from '../order.ts'
import { lockOrder, saveFields } from '../store.ts'
import { refundAmount } from './order-money.ts'
import { confirmPayment } from './pay-order.ts'

type Ctx = Needs<'clock' | 'ids'>
type Waiting = Order<'accepted' | 'cancelled'> & { readonly pending: Payment }

/** What becomes of an order whose named transfer is confirmed, or never will be. */
export const orderPayment: IntentHandler = {
  async onConfirmed(ctx, tx, intent, seen) {
    const order = await lockWaiting(tx, intent)
    if (order === undefined) return false
    const { network } = intent
    if (order.status === 'accepted') {
      await continuePaid(ctx, tx, await confirmPayment(ctx, tx, order, network, seen, order.buyer))
      return true
    }
    // Cancelled meanwhile: the transfer is refunded, whatever its amount.
    await claimTransfer(ctx, tx, { network, seen, purpose: purposeOf(order), due: seen.amount })
    await refundAmount(ctx, tx, order, { network, reference: seen.reference }, seen.amount)
    await saveFields(tx, { ...order, pending: null }, ctx.clock.now())
    return true
  },

  async onFailed(ctx, tx, intent, failure) {
    const order = await lockWaiting(tx, intent)
    if (order === undefined) return
    const now = ctx.clock.now()
    if (order.status === 'cancelled') {
      await saveFields(tx, { ...order, pending: null }, now)
      if (failure.status === 'failed') await notifyNotRefunded(ctx, tx, order, failure)
      return
    }
    const { message } = failure
    await saveFields(tx, { ...order, pending: null, paymentError: message.slice(0, 300) }, now)
    await notifyBuyer(ctx, tx, order, {
      kind: 'order.payment_failed',
      title: `The payment for “${order.title}” was not accepted`,
      body: message,
    })
  },
}

/** Undefined when another transfer was named meanwhile, or the order was paid. */
async function lockWaiting(tx: Tx, { purpose, reference }: Intent): Promise<Waiting | undefined> {
  const order = await lockOrder(tx, purpose.id as OrderId)
  if (order.status !== 'accepted' && order.status !== 'cancelled') return undefined
  return order.pending?.reference === reference ? { ...order, pending: order.pending } : undefined
}

/** One late transfer of a cancelled order is refunded automatically. The buyer has to ask for any further one. */
const notifyNotRefunded = (ctx: Ctx, tx: Tx, order: Waiting, { message }: Failure): Promise<void> =>
  notifyBuyer(ctx, tx, order, {
    kind: 'order.payment_failed',
    title: `A transfer for “${order.title}” was not refunded`,
    body: `To get ${order.pending.reference} back, contact the marketplace. ${message}`,
  })
