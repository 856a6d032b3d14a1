import type { Needs } from '@market/core/context'
import { findAgentById, isPaidOnOneOf, payableNetworks, payoutNetworks } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { cursorAmong, type NextCursor, NOTHING_FOLLOWS } from '@market/kernel/cursor'
import type { ListingId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { addFee } from '@market/money/ledger'
import {
  browseListings,
  findListing,
  isBelow,
  type Listing,
  type ListingSummary,
  listingNotFound,
} from '@market/offers/listings'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { countPayers } from '../orders/index.ts'
import { payoutWaitMs } from './contest/rules.ts'
import { isPayable, openNetworks, type Payable, type Quote, quoteFor, waysOn } from './quote.ts'

/** A service that can be bought by x402 now. */
export interface ForSale<Read extends ListingSummary = ListingSummary> {
  readonly listing: Payable<Read>
  readonly quote: Quote
}

type Ctx = Needs<'db' | 'clock' | 'chains' | 'facilitators' | 'minPrice'>

/** The service and its price; fails when it cannot be bought by x402. */
export async function findPayable(ctx: Ctx, id: ListingId, shortWaitMax: Usdc): Promise<ForSale<Listing>> {
  const listing = await findListing(ctx.db, id)
  if (listing === undefined || !listing.active || !listing.marketable) throw listingNotFound(id)
  if (!isPayable(listing))
    throw notPayable('Only services with a fixed price can. Order it with POST /api/orders')
  if (isBelow(listing, ctx.minPrice)) throw notPayable('Its price is below the minimum')
  const agent = await findAgentById(ctx.db, listing.agentId)
  const networks = await payableNetworks(ctx, ctx.db, agent, openNetworks(ctx))
  if (networks.length === 0) throw notPayable('Its agent has no payout address on an open network')
  const ways = waysOn(networks, ctx.chains, ctx.facilitators)
  const payers = await countPayers(ctx.db, listing.agentId, ctx.clock.now())
  const waitMs = payoutWaitMs(addFee(listing.price).due, payers, shortWaitMax)
  return { listing, quote: quoteFor(listing, ways, waitMs) }
}

const notPayable = (reason: string): ApiError =>
  new ApiError('not_found', `This service cannot be bought by x402. ${reason}.`, { code: 'not_payable' })

export interface PayableAsked {
  readonly category?: string | undefined
  readonly search?: string | undefined
  /** Only services that can be paid on one of these. */
  readonly networks?: readonly Network[] | undefined
  readonly limit: number
  readonly cursor?: string | undefined
  /** For formats without cursors; not for a search. */
  readonly offset?: number | undefined
}

/** Services that can be bought by x402: a search by relevance, everything else by distinct buyers. */
export async function listPayable(
  ctx: Ctx & Needs<'clock'>,
  { networks, ...asked }: PayableAsked,
): Promise<{ readonly found: readonly ForSale[]; readonly nextCursor: NextCursor }> {
  const open = openNetworks(ctx, networks)
  if (open.length === 0) return { found: [], nextCursor: NOTHING_FOLLOWS }
  const page = await browseListings(ctx, { ...asked, priceType: 'fixed', extra: isOffered(ctx, open) })
  const listings = page.found.map(({ listing }) => listing)
  const found = await forSale(ctx, listings.filter(isPayable))
  const shownAt = found.map(({ listing }) => listings.indexOf(listing))
  return { found, nextCursor: cursorAmong(page.nextCursor, listings.length, shownAt) }
}

/** The number of services that can be bought by x402, counted up to `most`. */
export async function countPayable(
  ctx: Needs<'db' | 'clock' | 'chains' | 'minPrice'>,
  { networks, most }: { readonly networks?: readonly Network[] | undefined; readonly most: number },
): Promise<number> {
  const open = openNetworks(ctx, networks)
  if (open.length === 0) return 0
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (
      select from listings
      where active and marketable and price_type = 'fixed' and ${isOffered(ctx, open)}
      order by completed_buyers desc, id desc limit ${most}
    ) as counted`.execute(ctx.db)
  return Number(rows[0]?.count ?? 0n)
}

/** Adds the quote to each listing, without the payout's wait. One that can no longer be paid is left out. */
export async function forSale(ctx: Ctx, listings: readonly Payable[]): Promise<ForSale[]> {
  if (listings.length === 0) return []
  const networks = await payoutNetworks(
    ctx,
    listings.map(({ agentId }) => agentId),
  )
  return listings.flatMap((listing) => {
    const ways = waysOn(networks.get(listing.agentId) ?? [], ctx.chains, ctx.facilitators)
    return ways.length === 0 ? [] : [{ listing, quote: quoteFor(listing, ways, null) }]
  })
}

/** A fixed price that is high enough, and an agent that can be paid on one of the networks. */
export const isOffered = (
  { minPrice, clock }: Needs<'minPrice' | 'clock'>,
  networks: readonly Network[],
): RawBuilder<SqlBool> =>
  sql<SqlBool>`(price_micros >= ${minPrice} and ${isPaidOnOneOf(networks, clock.now())})`
