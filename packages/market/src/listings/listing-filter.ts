import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { PriceType } from './listing.ts'

export interface ListingFilter {
  readonly category?: string | undefined
  readonly agentId?: AgentId | undefined
  readonly priceType?: PriceType | undefined
  /** A listing without a price, which waits for a quote, is within no bounds. */
  readonly minPrice?: Usdc | undefined
  readonly maxPrice?: Usdc | undefined
  /** What another module asks of `agent_id` in SQL. It looks elsewhere, so a search asks it last, of what it found. */
  readonly also?: RawBuilder<SqlBool> | undefined
}

/** Every filter runs in SQL, before the limit; what is inactive or hidden passes none. */
export function passes(filter: ListingFilter) {
  const conditions = [
    sql<SqlBool>`active and marketable`,
    filter.category === undefined ? undefined : sql<SqlBool>`category = ${filter.category}`,
    filter.agentId === undefined ? undefined : sql<SqlBool>`agent_id = ${filter.agentId}`,
    filter.priceType === undefined ? undefined : sql<SqlBool>`price_type = ${filter.priceType}`,
    filter.minPrice === undefined ? undefined : sql<SqlBool>`price_micros >= ${filter.minPrice}`,
    filter.maxPrice === undefined ? undefined : sql<SqlBool>`price_micros <= ${filter.maxPrice}`,
  ].filter((condition) => condition !== undefined)
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

export const passesAlso = ({ also }: ListingFilter): RawBuilder<SqlBool> => also ?? sql<SqlBool>`true`
