import type { Needs } from '@market/core/context'
import { isPaidOnOneOf } from '@market/identity/agents'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import type { PriceType } from './listing.ts'

interface Group {
  readonly category: string
  readonly priceType: PriceType
  readonly isPriced: boolean
  /** The open networks on which the agents of these listings can be paid. */
  readonly networks: readonly Network[]
  readonly count: number
}

/** The public listings by category, price and networks: a few hundred groups at most. */
export interface ListingCounts {
  readonly groups: readonly Group[]
  readonly countedAt: Date
}

/** Reads every public listing, so many requests share the result. */
export async function countListings(
  ctx: Needs<'db' | 'clock'>,
  open: readonly Network[],
): Promise<ListingCounts> {
  const now = ctx.clock.now()
  const networks = sql.join([
    ...open.map((network) => sql`case when ${isPaidOnOneOf([network], now)} then ${network} end`),
    sql`null`,
  ])
  const { rows } = await sql<Omit<Group, 'count'> & { count: bigint }>`
    with offered as (
      select agent_id, category, price_type, price_micros is not null as is_priced, count(*) as count
      from listings where active and marketable group by 1, 2, 3, 4
    )
    select category, price_type as "priceType", is_priced as "isPriced",
      array_remove(array[${networks}]::text[], null) as networks, sum(count)::bigint as count
    from offered group by 1, 2, 3, 4`.execute(ctx.db)
  return { groups: rows.map((row) => ({ ...row, count: Number(row.count) })), countedAt: now }
}

/** The filters that the groups can apply. */
export interface CountedFilter {
  readonly category?: string | undefined
  readonly priceType?: PriceType | undefined
  readonly network?: Network | undefined
  /** Only listings with a price. */
  readonly isPriced?: true | undefined
}

/** The number of listings that match. */
export const matchesOf = ({ groups }: ListingCounts, filter: CountedFilter): number =>
  groups
    .filter(
      ({ category, priceType, networks, isPriced }) =>
        (filter.category === undefined || filter.category === category) &&
        (filter.priceType === undefined || filter.priceType === priceType) &&
        (filter.network === undefined || networks.includes(filter.network)) &&
        (filter.isPriced === undefined || isPriced),
    )
    .reduce((sum, { count }) => sum + count, 0)
