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
  isPayoutStoppable: boolean,
): asserts order is Order<'completed'> {
  if (role !== 'buyer')
    throw new ApiError('forbidden', 'Only the buyer can review this order.', { code: 'not_your_act' })
  if (order.status !== 'completed')
    throw new ApiError('invalid', `The order is ${order.status}. Review it when it is completed.`, {
      code: 'order_not_completed',
    })
  // fix: safe-payment-rated
  if (!isPaymentSafe(order, isPayoutStoppable))
    throw new ApiError(
      'conflict',
      'The payer of this order is not proven yet. Sign for the payment as `sign` of GET /api/orders/{order_id} says, or review the order when its payout is being sent.',
      { code: 'payer_not_proven' },
    )
}

/**
 * While the payer can take the payment back, a rating could outlive the money that it stands for. A payer who is not proven can
 * do that until the payout is authorized, also after `payout_waits_until`.
 */
const isPaymentSafe = ({ payerProven, contest }: Order, isPayoutStoppable: boolean): boolean =>
  contest === null && (payerProven || !isPayoutStoppable)

export const alreadyReviewed = (orderId: OrderId): ApiError =>
  new ApiError('conflict', `This order already has a review. Read it with GET /api/orders/${orderId}.`, {
    code: 'already_reviewed',
  })
