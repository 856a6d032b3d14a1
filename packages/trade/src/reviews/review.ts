import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'

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

export const alreadyReviewed = (orderId: OrderId): ApiError =>
  new ApiError('conflict', `This order already has a review. Read it with GET /api/orders/${orderId}.`, {
    code: 'already_reviewed',
  })
