import type { Needs } from '@market/core/context'
import { DAY, earlier } from '@market/kernel/clock'
import { findListings } from '@market/offers/listings'
import { sql } from 'kysely'
import { type Bought, findMostBought } from '../orders/index.ts'
import { type ForSale, forSale, isOffered } from './payable-services.ts'
import { isPayable, openNetworks } from './quote.ts'

/** How many of the most bought are checked for being still for sale. */
const BEST = 1_000

export interface Trending extends ForSale {
  readonly recentBuyers: number
  readonly recentOrders: number
}

/** What was bought in the window, ranked by distinct buyers, so that one buyer with a hundred orders counts once. */
export async function listTrending(
  ctx: Needs<'db' | 'clock' | 'chains' | 'facilitators' | 'minPrice'>,
  { windowDays, limit }: { readonly windowDays: number; readonly limit: number },
): Promise<Trending[]> {
  const open = openNetworks(ctx)
  if (open.length === 0) return []
  const since = earlier(ctx.clock.now(), windowDays * DAY)
  const counted = await findMostBought(ctx.db, since, BEST)
  const { rows } = await sql<Bought>`
    select counted.id, buyers, orders from unnest(
      ${counted.map(({ id }) => id)}::text[],
      ${counted.map(({ buyers }) => buyers)}::bigint[],
      ${counted.map(({ orders }) => orders)}::bigint[]
    ) as counted (id, buyers, orders) cross join lateral (
      select ((rating_sum + 20.0::float8) / (rating_count + 5)) as rating from listings
      where id = counted.id and active and marketable and price_type = 'fixed' and ${isOffered(ctx, open)}
      offset 0
    ) as listed
    order by buyers desc, orders desc, rating desc, id desc limit ${limit}`.execute(ctx.db)
  return rows.length === 0 ? [] : withQuotes(ctx, rows)
}

async function withQuotes(ctx: Parameters<typeof listTrending>[0], rows: readonly Bought[]) {
  const listings = await findListings(
    ctx.db,
    rows.map(({ id }) => id),
  )
  const sold = new Map(
    (await forSale(ctx, listings.filter(isPayable))).map((each) => [each.listing.id, each]),
  )
  return rows.flatMap(({ id, buyers, orders }) => {
    const each = sold.get(id)
    return each === undefined ? [] : [{ ...each, recentBuyers: Number(buyers), recentOrders: Number(orders) }]
  })
}
