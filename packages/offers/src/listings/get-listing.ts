import type { Actor, Needs } from '@market/core/context'
import { actsFor, findAgentById } from '@market/identity/agents'
import type { ListingId } from '@market/kernel/ids'
import { type Listing, listingNotFound } from './listing.ts'
import { findListing } from './store.ts'

/**
 * Only its agent and the agent's owner can read an inactive listing. `getActor` may call the identity provider, so it runs
 * only for those listings.
 */
export async function getListing(
  ctx: Needs<'db'>,
  id: ListingId,
  getActor: () => Promise<Actor>,
): Promise<Listing> {
  const listing = await findListing(ctx.db, id)
  if (listing === undefined) throw listingNotFound(id)
  if (listing.active) return listing
  const agent = await findAgentById(ctx.db, listing.agentId)
  if (!actsFor(agent, await getActor())) throw listingNotFound(id)
  return listing
}
