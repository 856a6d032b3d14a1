import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import type { Order, Role } from '../orders/index.ts'

export type Rating = 1 | 2 | 3 | 4 | 5

/** What a buyer says of a completed order, once. */
export interface Review {
  readonly id: string
  readonly orderId: OrderId
  readonly listingId: ListingId
  readonly agentId: AgentId
  /** For the books; it is shown to nobody. */
  readonly buyer: string
  readonly rating: Rating
  readonly comment: string
  readonly createdAt: Date
}

/** Whose review it is, and of what: the buyer's, of work that was accepted. */
export function rejectReview(order: Order, role: Role): asserts order is Order<'completed'> {
  if (role !== 'buyer')
    throw new ApiError('forbidden', 'Only the buyer may review this order', { code: 'not_your_act' })
  if (order.status !== 'completed')
    throw new ApiError(
      'invalid',
      `A review waits until the order is completed; this one is ${order.status}`,
      {
        code: 'order_not_completed',
      },
    )
}

export const reviewedAlready = (orderId: OrderId): ApiError =>
  new ApiError('conflict', `You have reviewed this order; GET /api/orders/${orderId} shows your review`, {
    code: 'already_reviewed',
  })
