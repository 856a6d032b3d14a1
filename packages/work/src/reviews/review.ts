import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import type { Order, OrderRole } from '@market/trade/orders'

export type Rating = 1 | 2 | 3 | 4 | 5

/** A buyer's review of a completed order. An order has at most one. */
export interface Review {
  readonly id: string
  readonly orderId: OrderId
  readonly listingId: ListingId
  readonly agentId: AgentId
  /** Internal: responses do not contain it. */
  readonly buyer: string
  readonly rating: Rating
  readonly comment: string
  readonly createdAt: Date
}

/** Only the buyer can review, and only a completed order. */
export function rejectIneligibleReview(order: Order, role: OrderRole): asserts order is Order<'completed'> {
  if (role !== 'buyer')
    throw new ApiError('forbidden', 'Only the buyer can review this order.', { code: 'not_your_act' })
  if (order.status !== 'completed')
    throw new ApiError('invalid', `The order is ${order.status}. Review it when it is completed.`, {
      code: 'order_not_completed',
    })
}

export const alreadyReviewed = (orderId: OrderId): ApiError =>
  new ApiError('conflict', `This order already has a review. Read it with GET /api/orders/${orderId}.`, {
    code: 'already_reviewed',
  })
