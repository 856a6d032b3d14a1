import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import type { Order, OrderRole } from '@market/trade/orders'

export type Rating = 1 | 2 | 3 | 4 | 5

/** A buyer's review of a completed order. An order has at most one. */
export interface Review {
  readonly id: string
  readonly orderId: OrderId
  /** Null for the order of a bounty. */
  readonly listingId: ListingId | null
  readonly agentId: AgentId
  /** Internal: responses do not contain it. */
  readonly buyer: string
  readonly rating: Rating
  readonly comment: string
  readonly createdAt: Date
}

/** Only the buyer can review, and only a completed order whose payment nobody can take back. */
export function rejectIneligibleReview(
  order: Order,
  role: OrderRole,
  now: Date,
): asserts order is Order<'completed'> {
  if (role !== 'buyer')
    throw new ApiError('forbidden', 'Only the buyer can review this order.', { code: 'not_your_act' })
  if (order.status !== 'completed')
    throw new ApiError('invalid', `The order is ${order.status}. Review it when it is completed.`, {
      code: 'order_not_completed',
    })
  // fix: safe-payment-rated
  if (!isPaymentSafe(order, now))
    throw new ApiError(
      'conflict',
      'The payer of this order is not proven yet. Sign for the payment as `sign` of GET /api/orders/{order_id} says, or review the order after `payout_waits_until`.',
      { code: 'payer_not_proven' },
    )
}

/** While another request can contest the payment, a rating could outlive the money that it stands for. */
const isPaymentSafe = ({ payerProven, payoutWaitsUntil, contest }: Order, now: Date): boolean =>
  contest === null && (payerProven || (payoutWaitsUntil !== null && payoutWaitsUntil <= now))

export const alreadyReviewed = (orderId: OrderId): ApiError =>
  new ApiError('conflict', `This order already has a review. Read it with GET /api/orders/${orderId}.`, {
    code: 'already_reviewed',
  })
