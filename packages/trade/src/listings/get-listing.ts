import type { Needs } from '@market/core/context'
import { findAgentById } from '@market/identity/agents'
import type { ListingId } from '@market/kernel/ids'
import { isShown, type Listing, listingNotFound } from './listing.ts'
import { type Seller, sells } from './seller.ts'
import { findListing } from './store.ts'

/**
 * One that is inactive, or whose agent is hidden, is there for its seller alone. Who asks is found out only when it
 * matters: what is public needs no question to the identity provider.
 */
export async function getListing(
  ctx: Needs<'db'>,
  id: ListingId,
  asker: () => Promise<Seller>,
): Promise<Listing> {
  const listing = await findListing(ctx.db, id)
  if (listing === undefined) throw listingNotFound(id)
  if (isShown(listing)) return listing
  const agent = await findAgentById(ctx.db, listing.agentId)
  if (!sells(agent, await asker())) throw listingNotFound(id)
  return listing
}
