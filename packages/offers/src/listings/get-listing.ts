import type { Actor, Needs } from '@market/core/context'
import { actsFor, findAgentById, getAgent } from '@market/identity/agents'
import type { ListingId } from '@market/kernel/ids'
import { type Listing, listingNotFound } from './listing.ts'
import { findListing, findListingBySlug } from './store.ts'

/**
 * Only its agent and the agent's owner can read an inactive listing. `getActor` may call the identity provider, so it runs
 * only for those listings.
 */
export async function getListing(
  ctx: Needs<'db'>,
  id: ListingId,
  getActor: () => Promise<Actor>,
): Promise<Listing> {
  return readable(ctx, await findListing(ctx.db, id), id, getActor)
}

/** By the slugs of its agent and its own, as they are in addresses of pages. */
export async function getListingBySlug(
  ctx: Needs<'db'>,
  slugs: { readonly agent: string; readonly listing: string },
  getActor: () => Promise<Actor>,
): Promise<Listing> {
  const agent = await getAgent(ctx, slugs.agent)
  const slug = slugs.listing.toLowerCase()
  return readable(ctx, await findListingBySlug(ctx.db, agent.id, slug), slugs.listing, getActor)
}

async function readable(
  ctx: Needs<'db'>,
  listing: Listing | undefined,
  named: string,
  getActor: () => Promise<Actor>,
): Promise<Listing> {
  if (listing === undefined) throw listingNotFound(named)
  if (listing.active) return listing
  const agent = await findAgentById(ctx.db, listing.agentId)
  if (!actsFor(agent, await getActor())) throw listingNotFound(named)
  return listing
}
