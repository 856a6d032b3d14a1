import { type Actor, type Needs, nameOf, ownerWallets, payerWallets } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import {
  cancelIntent,
  claimTransfer,
  findTransferFor,
  findWaitingIntent,
  type Intent,
  intentHandler,
  NamedBefore,
  type Naming,
  ownersPayment,
  type PurposeRule,
} from '@market/money/payments'
import { accept, rejectExpiredPrice } from '../changes.ts'
import { applyDueTransition, continuePaid } from '../deadlines.ts'
import { notifyBuyer } from '../notifications.ts'
import { type Order, type Payment, purposeOf } from '../order.ts'
import { roleIn } from '../order-role.ts'
import { paymentTerms } from '../policy.ts'
import { illegalTransition, requireRole, TRANSITIONS } from '../states.ts'
import { findOrder, lockOrder, saveFields, saveOrder } from '../store.ts'
import { clientOn, confirmPayment } from './confirm-payment.ts'
import { confirmPayer } from './contest-order.ts'
import { refundAmount } from './order-money.ts'
import { isUnpaid, networkProblem } from './payable-networks.ts'
import { undoPayment } from './undo-payment.ts'

export interface PayOrder extends Payment {
  readonly orderId: OrderId
}

type Ctx = Needs<'clock' | 'ids'>

/**
 * A buyer pays an order with a transfer. One without enough confirmations accepts the price. One that is named for a
 * cancelled order is refunded, whatever its amount.
 */
export const orderPurpose: PurposeRule<'order', PayOrder, Order> = {
  purposeOf,
  due: (order) => paymentTerms(order).due,
  notBefore: (order) => paymentTerms(order).notBefore,
  buyerOf: ({ buyer }) => buyer,
  isPayable: isUnpaid,

  async begin(ctx, { actor, wanted }) {
    const { orderId, network } = wanted
    const found = await findOrder(ctx.db, orderId)
    requireRole(await roleIn(ctx.db, found, actor), 'pay')
    const paidBefore = new NamedBefore<Order>(async (tx) =>
      confirmIfProven(ctx, tx, await lockOrder(tx, orderId), actor),
    )
    if (isPaidBy(found, wanted)) return paidBefore
    return {
      target: found,
      payers: clientOn(found, network),
      async lock(tx) {
        const order = await lockOrder(tx, orderId)
        return isPaidBy(order, wanted) ? paidBefore : order
      },
    }
  },

  async lock(tx, { id, purpose }) {
    const order = await lockOrder(tx, purpose.id as OrderId)
    const isWaiting = order.status === 'accepted' || order.status === 'cancelled'
    // By its id: a submitted payment can be signed again, and is then another transaction.
    return isWaiting && (await findWaitingIntent(tx, purpose))?.id === id ? order : undefined
  },

  /** One late transfer of a cancelled order is refunded automatically. The buyer has to ask for any further one. */
  late: (order, _, isWaited) =>
    order.status === 'cancelled' && (isWaited || (order.pending === null && order.payment === undefined))
      ? illegalTransition(order, 'pay')
      : undefined,

  async check(ctx, tx, locked, payment, naming) {
    if (naming === undefined) return locked
    const order = await applyDueTransition(ctx, tx, locked, ctx.clock.now())
    if (!isUnpaid(order)) throw illegalTransition(order, 'pay')
    await rejectWhileSubmitted(tx, order, payment)
    const problem =
      (isAwaiting(order, payment) ? undefined : await networkProblem(ctx, tx, order, payment)) ??
      (await ownersPayment(tx, purposeOf(order), naming))
    if (problem !== undefined) throw problem
    return order
  },

  async onNamed(ctx, tx, order, naming, transfer) {
    if (!isUnpaid(order)) return nameLate(ctx, tx, order, naming)
    if (transfer === undefined) return acceptPrice(ctx, tx, order, naming)
    if (order.status === 'accepted' && order.pending !== null) await cancelIntent(tx, purposeOf(order))
    const { network, actor } = naming
    const proven = [...clientOn(order, network), ...payerWallets(actor, network)]
    const isProven = proven.includes(transfer.payer ?? '')
    // fix: owner-not-proven
    const payable = { ...order, payerProven: order.payerProven && isProven }
    return payable
  },

  async onPaid(ctx, tx, order, { network, transfer, naming }) {
    if (!isUnpaid(order)) throw illegalTransition(order, 'pay')
    const by = naming === undefined ? order.buyer : nameOf(naming.actor)
    return continuePaid(ctx, tx, await confirmPayment(ctx, tx, order, network, transfer, by))
  },

  async onLate(ctx, tx, order, { network, transfer }) {
    const { amount: due, reference } = transfer
    await claimTransfer(ctx, tx, { network, seen: transfer, purpose: purposeOf(order), due })
    await refundAmount(ctx, tx, order, { network, reference }, due)
    await saveFields(tx, withoutPending(order), ctx.clock.now())
  },

  async onFailed(ctx, tx, order, { status, message }, { reference }) {
    const now = ctx.clock.now()
    const ended = withoutPending(order)
    if (ended.status === 'accepted') {
      await saveFields(tx, { ...ended, paymentError: message.slice(0, 300) }, now)
      const title = `The payment for “${order.title}” was not accepted`
      return notifyBuyer(ctx, tx, order, { kind: 'order.payment_failed', title, body: message })
    }
    await saveFields(tx, ended, now)
    if (status === 'failed')
      await notifyBuyer(ctx, tx, order, {
        kind: 'order.payment_failed',
        title: `A transfer for “${order.title}” was not refunded`,
        body: `To get ${reference} back, contact the marketplace. ${message}`,
      })
  },

  onReversed: undoPayment,
}

/** What a worker, or the request that pays, does with a payment that an order waited for. */
export const orderPayment = intentHandler(orderPurpose)

/** A payment that we submit still takes effect, so a second one would pay twice. */
export async function rejectWhileSubmitted(
  tx: Tx,
  order: Order,
  payment: Pick<Payment, 'network' | 'reference'>,
): Promise<void> {
  const waiting = await awaitedBy(tx, order)
  if (waiting === undefined || !isSubmitted(waiting)) return
  if (payment.network === waiting.network && payment.reference === waiting.reference) return
  // fix: one-submission
  throw paymentInProgress(waiting)
}

/**
 * The same before we submit a payment: nothing is charged while another payment can still pay the order. That is one which a block
 * has, and a signed one that a reorganization dropped, until its authorization has expired.
 */
export async function rejectWhilePaymentComes(tx: Tx, order: Order): Promise<void> {
  const waiting = await awaitedBy(tx, order)
  if (waiting === undefined || (waiting.submission === null && waiting.depth === null)) return
  // fix: one-charge
  throw paymentInProgress(waiting)
}

const awaitedBy = async (tx: Tx, order: Order): Promise<Intent | undefined> =>
  order.status === 'accepted' && order.pending !== null ? findWaitingIntent(tx, purposeOf(order)) : undefined

/** Whether we submit the payment, and submit it again. */
export const isSubmitted = ({ submission }: Pick<Intent, 'submission'>): boolean =>
  submission !== null && submission.settlement.bytes !== null

export const paymentInProgress = ({
  reference,
  network,
  submission,
}: Pick<Intent, 'reference' | 'network' | 'submission'>): ApiError =>
  new ApiError(
    'conflict',
    `This order waits for the ${submission === null ? 'transfer' : 'signed payment'} ${reference} on ${network}. Read the order until it is paid, or until \`payment_error\` says that it failed.`,
    { code: 'payment_in_progress', retryAfterSeconds: 2 },
  )

const isPaidBy = (order: Order, { network, reference }: Payment): boolean =>
  'payment' in order && order.payment?.network === network && order.payment.reference === reference

const isAwaiting = (order: Order<'quoted' | 'accepted'>, { network, reference }: Payment): boolean =>
  order.status === 'accepted' && order.pending?.network === network && order.pending.reference === reference

const withoutPending = (order: Order): Order =>
  'pending' in order ? ({ ...order, pending: null } as Order) : order

/** The order was paid from a wallet that had not signed, and now that wallet names the transfer again. */
async function confirmIfProven(ctx: Ctx, tx: Tx, order: Order, actor: Actor): Promise<Order> {
  if (order.payerProven || !('confirm_payer' in TRANSITIONS[order.status])) return order
  const transfer = await findTransferFor(tx, purposeOf(order))
  const payer = transfer && payerWallets(actor, transfer.network).find((key) => key === transfer.payer)
  if (payer === undefined) return order
  await confirmPayer(ctx, tx, order.id, `wallet:${payer}`)
  return findOrder(tx, order.id)
}

/** Naming a transfer accepts the price. A transfer named later replaces the one named before. */
async function acceptPrice(
  ctx: Ctx,
  tx: Tx,
  order: Order<'quoted' | 'accepted'>,
  { network, reference, actor, isSigned }: Naming,
): Promise<Order> {
  const now = ctx.clock.now()
  rejectExpiredPrice(order, now)
  // Whose transfer it is shows only when it is confirmed. Until then it counts as the owner's, who has not signed.
  const payerProven = isSigned === true || (order.payerProven && ownerWallets(actor, network).length === 0)
  const waiting = { ...accept(order, now, { network, reference }), payerProven }
  if (order.status === 'quoted')
    return saveOrder(tx, order, waiting, { action: 'accept', role: 'buyer', actor: nameOf(actor), at: now })
  await saveFields(tx, waiting, now)
  return waiting
}

/** The order was cancelled before its payment was named. */
async function nameLate(ctx: Ctx, tx: Tx, order: Order, { network, reference }: Payment): Promise<Order> {
  const named = { ...order, pending: { network, reference } } as Order
  await saveFields(tx, named, ctx.clock.now())
  return named
}
