import type { Actor, Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { countListing } from '@market/identity/agents'
import type { AgentId, ListingId } from '@market/kernel/ids'
import type { Listing } from './listing.ts'
import { lockActiveListings, saveListing } from './store.ts'
import { updateListing } from './update-listing.ts'

/** A deactivated listing is not public and cannot be ordered. Existing orders continue. */
export const deactivateListing = (
  ctx: Needs<'transact' | 'clock' | 'minPrice'>,
  id: ListingId,
  actor: Actor,
): Promise<Listing> => updateListing(ctx, id, { active: false }, actor)

/** Deactivates every listing of the agent. Their number is limited. */
export async function deactivateListingsOf(ctx: Needs<'clock'>, tx: Tx, agentId: AgentId): Promise<void> {
  for (const listing of await lockActiveListings(tx, agentId)) {
    await countListing(tx, agentId, -1)
    await saveListing(tx, { ...listing, active: false, updatedAt: ctx.clock.now() })
  }
}
