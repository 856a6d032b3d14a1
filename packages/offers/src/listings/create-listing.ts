import { recordActivity } from '@market/core/activity'
import type { Actor, Needs } from '@market/core/context'
import { countListing, payableNetworks, requireSeller } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import {
  type Listing,
  type Offer,
  rejectInvalidOffer,
  rejectLargeOffer,
  rejectTooManyActive,
  slugOf,
} from './listing.ts'
import { freeListingSlug, insertListing } from './store.ts'

interface NewListing {
  readonly listing: Listing
  /** The networks on which its agent can be paid. */
  readonly payableOn: readonly Network[]
}

/** The listing is active immediately and public once its agent has an owner. */
export function createListing(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'minPrice'>,
  agentId: AgentId,
  offer: Offer,
  actor: Actor,
): Promise<NewListing> {
  return ctx.transact(async (tx) => {
    const seller = await requireSeller(tx, agentId, actor, 'change its services')
    rejectInvalidOffer(offer, ctx.minPrice)
    // fix: listing-size
    rejectLargeOffer(offer)
    // countListing locks the agent, so that two listings cannot get the same slug.
    const { activeListings, marketable } = await countListing(tx, agentId, 1)
    rejectTooManyActive(activeListings)
    const listing = await insertListing(tx, {
      ...offer,
      id: ctx.ids.next('svc'),
      agentId,
      slug: await freeListingSlug(tx, agentId, slugOf(offer.title)),
      marketable,
      createdAt: ctx.clock.now(),
    })
    await recordActivity(tx, 'service', { ...listing, listingId: listing.id })
    return { listing, payableOn: await payableNetworks(ctx, tx, seller) }
  })
}
