import { deleteActivity } from '@market/core/activity'
import { addStatistics } from '@market/core/statistics'
import type { Tx } from '@market/database/transact'
import { countRating as countForAgent } from '@market/identity/agents'
import type { OrderId } from '@market/kernel/ids'
import { countRating as countForListing } from '@market/offers/listings'
import { deleteReview } from './store.ts'

/**
 * Removes the review of an order that is not completed any more: a rating must not outlive the money that it stands for. The
 * buyer can review the order again when it is paid and completed again. The caller has locked the order.
 */
export async function removeReview(tx: Tx, orderId: OrderId): Promise<void> {
  const review = await deleteReview(tx, orderId)
  if (review === undefined) return
  if (review.listingId !== null) await countForListing(tx, review.listingId, review.rating, -1)
  await countForAgent(tx, review.agentId, review.rating, -1)
  await addStatistics(tx, { name: 'reviews', amount: -1n })
  await deleteActivity('review', review).execute(tx)
}
