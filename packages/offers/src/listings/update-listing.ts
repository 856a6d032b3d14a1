import type { Actor, Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { countListing, findAgentById, rejectOtherSeller } from '@market/identity/agents'
import type { ListingId } from '@market/kernel/ids'
import { ZERO } from '@market/kernel/money'
import {
  type Listing,
  listingNotFound,
  type Offer,
  rejectInvalidOffer,
  rejectLargeOffer,
  rejectTooManyActive,
} from './listing.ts'
import { lockListing, saveListing, savePastPrice } from './store.ts'

/** Undefined fields do not change. Existing orders are not changed: they store a copy of the listing. */
export type ListingChange = { readonly [K in keyof Offer]?: Offer[K] | undefined } & {
  readonly active?: boolean | undefined
}

export function updateListing(
  ctx: Needs<'transact' | 'clock' | 'minPrice'>,
  id: ListingId,
  change: ListingChange,
  actor: Actor,
): Promise<Listing> {
  return ctx.transact(async (tx) => {
    const listing = await lockForSeller(tx, id, actor)
    const wanted = changed(listing, change)
    // An inactive listing is offered to nobody, so its old price and size may stay.
    rejectInvalidOffer(wanted, wanted.active ? ctx.minPrice : ZERO)
    // fix: changed-listing-size
    if (wanted.active) rejectLargeOffer(wanted)
    if (isSame(listing, wanted)) return listing
    if (wanted.active !== listing.active) await countActive(tx, wanted)
    const now = ctx.clock.now()
    if (listing.price !== null && listing.price !== wanted.price)
      await savePastPrice(tx, id, listing.price, now)
    return saveListing(tx, { ...wanted, updatedAt: now })
  })
}

async function lockForSeller(tx: Tx, id: ListingId, actor: Actor): Promise<Listing> {
  const listing = await lockListing(tx, id)
  if (listing === undefined) throw listingNotFound(id)
  const agent = await findAgentById(tx, listing.agentId)
  rejectOtherSeller(agent, actor, 'change its services')
  return listing
}

async function countActive(tx: Tx, listing: Listing): Promise<void> {
  const { activeListings } = await countListing(tx, listing.agentId, listing.active ? 1 : -1)
  if (listing.active) rejectTooManyActive(activeListings)
}

const changed = (listing: Listing, change: ListingChange): Listing => ({
  ...listing,
  ...(Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as Partial<Listing>),
})

/** Compares the listings as JSON; a price, which is a bigint, is written as a string. */
const isSame = (one: Listing, other: Listing): boolean => asText(one) === asText(other)
const asText = (listing: Listing): string =>
  JSON.stringify(listing, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
