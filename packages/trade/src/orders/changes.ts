import { ApiError } from '@market/kernel/api-error'
import { HOUR, later, latest } from '@market/kernel/clock'
import { type Usdc, ZERO } from '@market/kernel/money'
import { bare, decided, isExtra, type Order, type Payment, paidPart, pricedPart } from './order.ts'
import type { Before, OrderRole } from './states.ts'
import { earnedPart, rejectOpenWorkspace, withoutPending, workspaceEnd } from './workspace.ts'

/** How long a buyer can review a delivery before it is approved automatically. */
const REVIEW_MS = 48 * HOUR
/** The minimum review time after a delivery is replaced. */
const MIN_REVIEW_MS = 24 * HOUR
/** How long an accepted price is valid. */
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

/** An accepted price is valid for a day, or until the quote expires if that is later. */
export const accept = (
  order: Order<'quoted' | 'accepted'>,
  now: Date,
  pending: Payment | null = null,
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

/** The quoted price has expired; the agent must quote again. */
export const expire = (order: Order<Before<'expire'>>): Order<'pending_quote'> => ({
  ...bare(order),
  contest: null,
  status: 'pending_quote',
})

/** The acceptance has expired. A listed price stays valid, so the order is quoted again. */
export const lapse = (order: Order<Before<'expire' | 'lapse'>>): Order<'quoted'> => ({
  ...bare(order),
  contest: null,
  status: 'quoted',
  price: order.price,
  priceUntil: null,
  quoteMessage: order.quoteMessage,
})

export function pay(order: Order<Before<'pay'>>, payment: Payment, now: Date): Order<'paid'> {
  const workspaceEndsAt = workspaceEnd(order, now)
  return {
    ...bare(order),
    status: 'paid',
    price: order.price,
    priceUntil: null,
    quoteMessage: order.quoteMessage,
    payment,
    paidAt: now,
    workspaceEndsAt,
    deliverBy: workspaceEndsAt ?? later(now, order.turnaroundHours * HOUR),
  }
}

/** The transfer was reversed by a chain reorganization. The order can be paid again at the same price. */
export const undo = (
  order: Order<Before<'undo'>>,
  now: Date,
  reason: string,
  pending: Payment | null = null,
): Order<'accepted'> => ({
  ...bare(order),
  status: 'accepted',
  price: order.price,
  priceUntil: later(now, PRICE_LOCK_MS),
  quoteMessage: order.quoteMessage,
  pending,
  paymentError: reason,
})

/** The payment of a cancelled order was reversed. If the transfer is included again, it is refunded again. */
export const undoCancelled = (order: Order<'cancelled'>, pending: Payment): Order<'cancelled'> => ({
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

/** A workspace is delivered by the clock. */
export const rejectEarlyDelivery = (order: Order<Before<'deliver'>>): void =>
  rejectOpenWorkspace(order, 'It is delivered at its end, or when its quota is used up.')

export function deliver(order: Order<Before<'deliver'>>, now: Date): Order<'delivered'> {
  rejectEarlyDelivery(order)
  return { ...paidPart(order), status: 'delivered', deliveredAt: now, reviewEndsAt: reviewEnd(order, now) }
}

/** A workspace has ended. */
export const finish = (order: Order<'in_progress'>, now: Date): Order<'delivered'> => ({
  ...withoutPending(paidPart(order)),
  status: 'delivered',
  deliveredAt: now,
  reviewEndsAt: later(now, REVIEW_MS),
})

/** A first or revised delivery gets the full review time; a replacement leaves at least a day. */
function reviewEnd(order: Order<Before<'deliver'>>, now: Date): Date {
  const earliest = later(now, MIN_REVIEW_MS)
  switch (order.status) {
    case 'paid':
    case 'in_progress':
    case 'revision_requested':
      return later(now, REVIEW_MS)
    case 'delivered':
      return latest(order.reviewEndsAt, earliest)
    case 'disputed':
      return latest(later(now, order.reviewLeftMs), earliest)
  }
}

/** The agent has its turnaround time for a revision, or until the deadline if that is later. */
export function revise(order: Order<'delivered'>, feedback: string, now: Date): Order<'revision_requested'> {
  const deadline = later(now, order.turnaroundHours * HOUR)
  return {
    ...paidPart(order),
    status: 'revision_requested',
    revisionCount: order.revisionCount + 1,
    deliverBy: latest(order.deliverBy, deadline),
    deliveredAt: order.deliveredAt,
    reviewLeftMs: reviewTimeLeft(order, now),
    complaint: feedback,
  }
}

/** Only a revision that the price does not include can be declined. */
export function rejectIncludedRevision(order: Order<'revision_requested'>): void {
  if (isExtra(order)) return
  throw new ApiError(
    'invalid',
    `This is revision ${order.revisionCount} of ${order.maxRevisions} included in the price. You can decline only further revisions.`,
    { code: 'revision_included' },
  )
}

export function declineRevision(order: Order<'revision_requested'>, now: Date): Order<'delivered'> {
  rejectIncludedRevision(order)
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
  reviewLeftMs: reviewTimeLeft(order, now),
  complaint: reason,
})

/** The payer signed for this order. Agent and buyer get back the time for which the order was contested. */
export function confirmPayer<S extends Before<'confirm_payer'>>(order: Order<S>, now: Date): Order<S> {
  const stoodMs = order.contest === null ? 0 : now.getTime() - order.contest.at.getTime()
  return {
    ...decided(order),
    deliverBy: later(order.deliverBy, stoodMs),
    workspaceEndsAt: order.workspaceEndsAt && later(order.workspaceEndsAt, stoodMs),
    ...('reviewEndsAt' in order && { reviewEndsAt: later(order.reviewEndsAt, stoodMs) }),
  }
}

export const complete = (
  order: Order<Before<'approve' | 'release' | 'award'>>,
  now: Date,
  agentPart: Usdc = earnedPart(order),
): Order<'completed'> => ({
  ...paidPart(order),
  agentPart,
  status: 'completed',
  deliveredAt: order.deliveredAt,
  closedAt: now,
  outcome: agentPart === order.price ? 'released' : 'split',
})

export const cancel = (
  order: Order<Before<'cancel' | 'overdue' | 'refund' | 'reverse' | 'return_payment'>>,
  now: Date,
): Order<'cancelled'> => ({
  ...('payment' in order ? paidPart(order) : { ...bare(order), ...pricedPart(order) }),
  agentPart: ZERO,
  status: 'cancelled',
  contest: null,
  closedAt: now,
  outcome: 'payment' in order ? 'refunded' : 'unpaid',
  pending: order.status === 'accepted' ? order.pending : null,
})

/** After the agent has started, the buyer can cancel only when the delivery is late. */
export function rejectEarlyCancel(order: Order<Before<'cancel'>>, role: OrderRole, now: Date): void {
  if (role === 'buyer')
    rejectOpenWorkspace(order, 'When it ends, you can approve it, request a revision or dispute it.')
  const hasBegun = order.status === 'in_progress' || order.status === 'revision_requested'
  if (!hasBegun) return
  if (role === 'buyer' && now < order.deliverBy)
    throw new ApiError(
      'invalid',
      `The agent has until ${order.deliverBy.toISOString()} to deliver. You can cancel after that for a full refund.`,
      { code: 'not_late_yet' },
    )
  if (role !== 'buyer' && order.status === 'revision_requested')
    throw new ApiError('invalid', 'After a delivery only the buyer can cancel. Deliver the revision.', {
      code: 'delivered_before',
    })
}

/** Another `pay` does not extend the validity of the price. */
export function rejectExpiredPrice(order: Order<Before<'pay'>>, now: Date): void {
  if (order.priceUntil === null || now < order.priceUntil) return
  throw new ApiError(
    'invalid',
    'The price has expired. If your last transfer is not accepted, ask the agent for a new quote.',
    { code: 'price_expired' },
  )
}

const reviewTimeLeft = ({ reviewEndsAt }: Order<'delivered'>, now: Date): number =>
  Math.max(0, reviewEndsAt.getTime() - now.getTime())
