import type { Needs } from '@market/core/context'
import type { ListingId } from '@market/kernel/ids'
import type { Listing } from './listing.ts'
import type { Seller } from './seller.ts'
import { updateListing } from './update-listing.ts'

/** A deactivated listing is not public and cannot be ordered. Existing orders continue. */
export const deactivateListing = (
  ctx: Needs<'transact' | 'clock'>,
  id: ListingId,
  seller: Seller,
): Promise<Listing> => updateListing(ctx, id, { active: false }, seller)
