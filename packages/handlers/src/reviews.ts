import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import { createReview } from '@market/trade/orders'
import { listReviews, type Rating } from '@market/trade/reviews'
import { handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { presentReview, presentStars } from './present-review.ts'

export const reviewHandlers = {
  createReview: handler('createReview', {
    run: async (ctx, input) =>
      createReview(ctx, await loadActor(ctx), {
        orderId: input.order_id as OrderId,
        rating: input.rating as Rating,
        comment: input.comment,
      }),
    present: (review) => ({ data: presentReview(review) }),
  }),

  listReviews: handler('listReviews', {
    run: (ctx, input) =>
      listReviews(ctx, {
        agentId: input.agent_id as AgentId,
        listingId: input.service_id as ListingId | undefined,
        limit: input.limit,
        cursor: input.cursor,
      }),
    present: ({ reviews, stars, nextCursor }) => ({
      data: reviews.map(presentReview),
      stars: presentStars(stars),
      next_cursor: nextCursor,
    }),
  }),
}
