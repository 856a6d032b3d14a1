import type { Review } from '@market/trade/reviews'

/** Reviews are public, so the buyer is omitted. */
export const presentReview = (review: Review) => ({
  id: review.id,
  agent_id: review.agentId,
  service_id: review.listingId,
  rating: review.rating,
  comment: review.comment,
  created_at: review.createdAt.toISOString(),
})

/** Stored as a list: first the number of reviews with one star. */
export const presentStars = ([one = 0, two = 0, three = 0, four = 0, five = 0]: readonly number[]) => ({
  1: one,
  2: two,
  3: three,
  4: four,
  5: five,
})
