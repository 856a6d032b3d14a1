import type { Needs } from '@market/core/context'
import { findAgentById } from '@market/identity/agents'
import type { ListingId } from '@market/kernel/ids'
import { isPublic, type Listing, listingNotFound } from './listing.ts'
import { isSellerOf, type Seller } from './seller.ts'
import { findListing } from './store.ts'

/**
 * Only its seller can read a listing that is not public. `getSeller` may call the identity provider, so it runs only
 * for those listings.
 */
export async function getListing(
  ctx: Needs<'db'>,
  id: ListingId,
  getSeller: () => Promise<Seller>,
): Promise<Listing> {
  const listing = await findListing(ctx.db, id)
  if (listing === undefined) throw listingNotFound(id)
  if (isPublic(listing)) return listing
  const agent = await findAgentById(ctx.db, listing.agentId)
  if (!isSellerOf(agent, await getSeller())) throw listingNotFound(id)
  return listing
}
