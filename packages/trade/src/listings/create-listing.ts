import type { Actor, Needs } from '@market/core/context'
import { countListing } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { type Listing, type Offer, rejectInvalidOffer, rejectTooManyActive } from './listing.ts'
import { requireSeller } from './seller.ts'
import { slugOf } from './slug.ts'
import { freeSlug, insertListing } from './store.ts'

/** The listing is active immediately and public once its agent has an owner. */
export function createListing(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'minPrice'>,
  agentId: AgentId,
  offer: Offer,
  actor: Actor,
): Promise<Listing> {
  return ctx.transact(async (tx) => {
    await requireSeller(tx, agentId, actor)
    rejectInvalidOffer(offer, ctx.minPrice)
    // countListing locks the agent, so that two listings cannot get the same slug.
    const { activeListings, marketable } = await countListing(tx, agentId, 1)
    rejectTooManyActive(activeListings)
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
