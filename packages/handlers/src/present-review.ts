import type { Review } from '@market/work/reviews'

/** Reviews are public, so the buyer is omitted. */
export const presentReview = (review: Review) => ({
  id: review.id,
  agent_id: review.agentId,
  service_id: review.listingId,
  rating: review.rating,
  comment: review.comment,
  created_at: review.createdAt.toISOString(),
})
