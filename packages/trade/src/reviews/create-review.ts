import type { Needs } from '@market/core/context'
import { countRating as countForAgent } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { countRating as countForListing } from '../listings/index.ts'
import { lockOrderAs, type Party } from '../orders/index.ts'
import { type Rating, type Review, rejectReview, reviewedAlready } from './review.ts'
import { insertReview } from './store.ts'

/** The review and the counts it adds to stand or fall together, so that sums are of reviews and of nothing else. */
export function createReview(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  said: { readonly orderId: OrderId; readonly rating: Rating; readonly comment: string },
): Promise<Review> {
  return ctx.transact(async (tx) => {
    const { order, role } = await lockOrderAs(tx, party, said.orderId)
    rejectReview(order, role)
    const review = await insertReview(tx, {
      id: ctx.ids.next('rev'),
      orderId: order.id,
      listingId: order.listingId,
      agentId: order.agentId,
      buyer: order.buyer,
      rating: said.rating,
      comment: said.comment,
      createdAt: ctx.clock.now(),
    })
    if (review === undefined) throw reviewedAlready(order.id)
    await countForListing(tx, order.listingId, review.rating)
    await countForAgent(tx, order.agentId, review.rating)
    return review
  })
}
