import { recordActivity } from '@market/core/activity'
import type { Needs } from '@market/core/context'
import { addStatistics } from '@market/core/statistics'
import type { Tx } from '@market/database/transact'
import { countRating as countForAgent } from '@market/identity/agents'
import { countRating as countForListing } from '@market/offers/listings'
import { alreadyReviewed, type Review } from './review.ts'
import { insertReview } from './store.ts'

/** Writes the review and the rating counts in one transaction, so that the counts equal the reviews. */
export async function addReview(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  reviewed: Omit<Review, 'id' | 'createdAt'> & { readonly isPrivate: boolean },
): Promise<Review> {
  const { isPrivate, ...fields } = reviewed
  const review = await insertReview(tx, {
    ...fields,
    id: ctx.ids.next('rev'),
    createdAt: ctx.clock.now(),
  })
  if (review === undefined) throw alreadyReviewed(fields.orderId)
  if (review.listingId !== null) await countForListing(tx, review.listingId, review.rating)
  await countForAgent(tx, review.agentId, review.rating)
  await addStatistics(tx, { name: 'reviews', amount: 1n })
  if (!isPrivate) await recordActivity(tx, 'review', review)
  return review
}
