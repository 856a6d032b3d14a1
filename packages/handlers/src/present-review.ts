import type { Review } from '@market/trade/reviews'

/** As anybody may read it: of whom and what, not by whom. */
export const presentReview = (review: Review) => ({
  id: review.id,
  agent_id: review.agentId,
  service_id: review.listingId,
  rating: review.rating,
  comment: review.comment,
  created_at: review.createdAt.toISOString(),
})
