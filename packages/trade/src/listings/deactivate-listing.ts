import type { Actor, Needs } from '@market/core/context'
import type { ListingId } from '@market/kernel/ids'
import type { Listing } from './listing.ts'
import { updateListing } from './update-listing.ts'

/** A deactivated listing is not public and cannot be ordered. Existing orders continue. */
export const deactivateListing = (
  ctx: Needs<'transact' | 'clock' | 'minPrice'>,
  id: ListingId,
  actor: Actor,
): Promise<Listing> => updateListing(ctx, id, { active: false }, actor)
