import { recordActivity } from '@market/core/activity'
import type { Actor, Needs } from '@market/core/context'
import { addStatistics } from '@market/core/statistics'
import { countRating as countForAgent } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { isStoppable } from '@market/money/payouts'
import { countRating as countForListing } from '@market/offers/listings'
import { lockOrderAs } from '@market/trade/orders'
import { alreadyReviewed, type Rating, type Review, rejectIneligibleReview } from './review.ts'
import { insertReview } from './store.ts'

/** Writes the review and the rating counts in one transaction, so that the counts equal the reviews. */
export function createReview(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  actor: Actor,
  input: { readonly orderId: OrderId; readonly rating: Rating; readonly comment: string },
): Promise<Review> {
  return ctx.transact(async (tx) => {
    const { order, role } = await lockOrderAs(tx, actor, input.orderId)
    rejectIneligibleReview(order, role, await isStoppable(tx, 'payout', order.id))
    const review = await insertReview(tx, {
      id: ctx.ids.next('rev'),
      orderId: order.id,
      listingId: order.listingId,
      agentId: order.agentId,
      buyer: order.buyer,
      rating: input.rating,
      comment: input.comment,
      createdAt: ctx.clock.now(),
    })
    if (review === undefined) throw alreadyReviewed(order.id)
    if (order.listingId !== null) await countForListing(tx, order.listingId, review.rating)
    await countForAgent(tx, order.agentId, review.rating)
    await addStatistics(tx, { name: 'reviews', amount: 1n })
    if (!order.isPrivate) await recordActivity(tx, 'review', review)
    return review
  })
}
