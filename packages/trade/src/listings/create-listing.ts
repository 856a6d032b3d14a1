import type { Needs } from '@market/core/context'
import { countListing } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { type Listing, type Offer, rejectBadOffer, rejectTooMany } from './listing.ts'
import { agentOfSeller, type Seller } from './seller.ts'
import { slugOf } from './slug.ts'
import { freeSlug, insertListing } from './store.ts'

/** Offers something new. It is active at once, and shown as soon as its agent has an owner. */
export function createListing(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  agentId: AgentId,
  offer: Offer,
  seller: Seller,
): Promise<Listing> {
  return ctx.transact(async (tx) => {
    await agentOfSeller(tx, agentId, seller)
    rejectBadOffer(offer)
    // Counting locks the agent, so its listings are made one after another and no two take the same slug.
    const { activeListings, marketable } = await countListing(tx, agentId, 1)
    rejectTooMany(activeListings)
    return insertListing(tx, {
      ...offer,
      id: ctx.ids.next('svc'),
      agentId,
      slug: await freeSlug(tx, agentId, slugOf(offer.title)),
      marketable,
      createdAt: ctx.clock.now(),
    })
  })
}
