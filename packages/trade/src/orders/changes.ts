import { ApiError } from '@market/kernel/api-error'
import { HOUR, later } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import {
  bare,
  isExtra,
  type Order,
  type Payment,
  type PendingPayment,
  paidPart,
  pricedPart,
} from './order.ts'
import type { Before, Role } from './states.ts'

/** How long a buyer may look at a delivery before it counts as approved. */
const REVIEW_MS = 48 * HOUR
/** What a replaced delivery leaves the buyer at least. */
const REVIEW_AGAIN_MS = 24 * HOUR
/** How long a price holds once it was accepted. */
const PRICE_LOCK_MS = 24 * HOUR

export const quote = (
  order: Order<Before<'quote'>>,
  price: Usdc,
  terms: { until: Date | null; message: string | null },
): Order<'quoted'> => ({
  ...order,
  status: 'quoted',
  price,
  priceUntil: terms.until,
  quoteMessage: terms.message,
})

/** Saying yes makes a price hold for a day, and never shorter than it was offered for. */
export const accept = (
  order: Order<'quoted' | 'accepted'>,
  now: Date,
  pending: PendingPayment | null = null,
): Order<'accepted'> => ({
  ...order,
  status: 'accepted',
  priceUntil:
    order.status === 'accepted'
      ? order.priceUntil
      : latest(order.priceUntil ?? now, later(now, PRICE_LOCK_MS)),
  pending,
  paymentError: null,
})

/** A price that was named for this order is over, and is asked for anew. */
export const expire = (order: Order<Before<'expire'>>): Order<'pending_quote'> => ({
  ...bare(order),
  status: 'pending_quote',
})

/** A listed price stands; only the yes to it is forgotten. */
export const lapse = (order: Order<Before<'expire' | 'lapse'>>): Order<'quoted'> => ({
  ...bare(order),
  status: 'quoted',
  price: order.price,
  priceUntil: null,
  quoteMessage: order.quoteMessage,
})

export const pay = (order: Order<Before<'pay'>>, payment: Payment, now: Date): Order<'paid'> => ({
  ...bare(order),
  status: 'paid',
  price: order.price,
  priceUntil: null,
  quoteMessage: order.quoteMessage,
  payment,
  paidAt: now,
  deliverBy: later(now, order.turnaroundHours * HOUR),
})

/** The chain took the payment back: the order waits for another, at the same price. */
export const undo = (
  order: Order<Before<'undo'>>,
  now: Date,
  why: string,
  pending: PendingPayment | null = null,
): Order<'accepted'> => ({
  ...bare(order),
  status: 'accepted',
  price: order.price,
  priceUntil: later(now, PRICE_LOCK_MS),
  quoteMessage: order.quoteMessage,
  pending,
  paymentError: why,
})

/** A cancelled order whose refund has lost its money: should the transfer come again, it goes back again. */
export const undoCancelled = (order: Order<'cancelled'>, pending: PendingPayment): Order<'cancelled'> => ({
  ...bare(order),
  ...pricedPart(order),
  status: 'cancelled',
  closedAt: order.closedAt,
  outcome: 'unpaid',
  pending,
})

export const start = (order: Order<Before<'start'>>): Order<'in_progress'> => ({
  ...order,
  status: 'in_progress',
})

export function deliver(order: Order<Before<'deliver'>>, now: Date): Order<'delivered'> {
  return { ...paidPart(order), status: 'delivered', deliveredAt: now, reviewEndsAt: reviewEnd(order, now) }
}

/** A first or revised delivery is reviewed anew; one that replaces another adds what is missing to a day. */
function reviewEnd(order: Order<Before<'deliver'>>, now: Date): Date {
  const again = later(now, REVIEW_AGAIN_MS)
  switch (order.status) {
    case 'paid':
    case 'in_progress':
    case 'revision_requested':
      return later(now, REVIEW_MS)
    case 'delivered':
      return latest(order.reviewEndsAt, again)
    case 'disputed':
      return latest(later(now, order.reviewLeftMs), again)
  }
}

/** A revision is new work: the agent has its turnaround for it, or what is left of the deadline. */
export function revise(order: Order<'delivered'>, feedback: string, now: Date): Order<'revision_requested'> {
  const anew = later(now, order.turnaroundHours * HOUR)
  return {
    ...paidPart(order),
    status: 'revision_requested',
    revisionCount: order.revisionCount + 1,
    deliverBy: latest(order.deliverBy, anew),
    deliveredAt: order.deliveredAt,
    reviewLeftMs: leftOf(order, now),
    complaint: feedback,
  }
}

export function declineRevision(order: Order<'revision_requested'>, now: Date): Order<'delivered'> {
  if (!isExtra(order))
    throw new ApiError(
      'invalid',
      `This is revision ${order.revisionCount} of ${order.maxRevisions} that are part of the price; only further ones can be declined`,
      { code: 'revision_included' },
    )
  return {
    ...paidPart(order),
    status: 'delivered',
    deliveredAt: order.deliveredAt,
    reviewEndsAt: later(now, order.reviewLeftMs),
  }
}

export const dispute = (order: Order<'delivered'>, reason: string, now: Date): Order<'disputed'> => ({
  ...paidPart(order),
  status: 'disputed',
  deliveredAt: order.deliveredAt,
  reviewLeftMs: leftOf(order, now),
  complaint: reason,
})

/** Whoever paid says that another ordered with their money: the work is there, so an arbiter decides. */
export const contest = (order: Order<'delivered' | 'completed'>): Order<'disputed'> => ({
  ...paidPart(order),
  status: 'disputed',
  deliveredAt: order.deliveredAt,
  reviewLeftMs: 0,
  complaint: 'Whoever made the payment says that it was not for this order.',
})

export const complete = (
  order: Order<Before<'approve' | 'release' | 'award'>>,
  now: Date,
  outcome: 'released' | 'split' = 'released',
): Order<'completed'> => ({
  ...paidPart(order),
  status: 'completed',
  deliveredAt: order.deliveredAt,
  closedAt: now,
  outcome,
})

export const cancel = (
  order: Order<Before<'cancel' | 'overdue' | 'refund' | 'reverse'>>,
  now: Date,
): Order<'cancelled'> => ({
  ...('payment' in order ? paidPart(order) : { ...bare(order), ...pricedPart(order) }),
  status: 'cancelled',
  closedAt: now,
  outcome: 'payment' in order ? 'refunded' : 'unpaid',
  pending: order.status === 'accepted' ? order.pending : null,
})

/** Work that has begun is stopped by the agent, or by the buyer once it is late. */
export function rejectEarlyCancel(order: Order<Before<'cancel'>>, role: Role, now: Date): void {
  const hasBegun = order.status === 'in_progress' || order.status === 'revision_requested'
  if (!hasBegun) return
  if (role === 'buyer' && now < order.deliverBy)
    throw new ApiError(
      'invalid',
      `The agent has until ${order.deliverBy.toISOString()} to deliver; cancel after that for a full refund`,
      { code: 'not_late_yet' },
    )
  if (role !== 'buyer' && order.status === 'revision_requested')
    throw new ApiError('invalid', 'After a delivery it is the buyer who may cancel; deliver the revision', {
      code: 'delivered_before',
    })
}

/** Naming one transfer after another does not make a price hold for ever. */
export function rejectLateNaming(order: Order<Before<'pay'>>, now: Date): void {
  if (order.priceUntil === null || now < order.priceUntil) return
  throw new ApiError(
    'invalid',
    'The time of this price is over. If the transfer you named last does not count, ask for a new price.',
    { code: 'price_expired' },
  )
}

const latest = (a: Date, b: Date): Date => new Date(Math.max(a.getTime(), b.getTime()))

const leftOf = ({ reviewEndsAt }: Order<'delivered'>, now: Date): number =>
  Math.max(0, reviewEndsAt.getTime() - now.getTime())
