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

type Condition = RawBuilder<SqlBool>

const IS_OFFERED = sql<SqlBool>`active and marketable`

const allOf = (conditions: readonly (Condition | undefined)[]): Condition =>
  sql<SqlBool>`${sql.join(
    conditions.filter((condition) => condition !== undefined),
    sql` and `,
  )}`

const inCategory = ({ category }: ListingFilter) =>
  category === undefined ? undefined : sql<SqlBool>`category = ${category}`
const ofPriceType = ({ priceType }: ListingFilter) =>
  priceType === undefined ? undefined : sql<SqlBool>`price_type = ${priceType}`
const atLeast = ({ minPrice }: ListingFilter) =>
  minPrice === undefined ? undefined : sql<SqlBool>`price_micros >= ${minPrice}`
const atMost = ({ maxPrice }: ListingFilter) =>
  maxPrice === undefined ? undefined : sql<SqlBool>`price_micros <= ${maxPrice}`

/** Every filter runs in SQL, before the limit; what is inactive or hidden passes none. */
export const passes = (filter: ListingFilter): Condition =>
  allOf([
    IS_OFFERED,
    inCategory(filter),
    filter.agentId === undefined ? undefined : sql<SqlBool>`agent_id = ${filter.agentId}`,
    ofPriceType(filter),
    atLeast(filter),
    atMost(filter),
  ])

/** The part of a filter for which one index holds the listings in order of buyers. */
export const passesByIndex = (filter: ListingFilter): Condition =>
  allOf([IS_OFFERED, inCategory(filter) ?? ofPriceType(filter)])

/** The part of a filter that the index of words holds, too. */
export const passesInLookup = (filter: ListingFilter): Condition =>
  allOf([IS_OFFERED, inCategory(filter), ofPriceType(filter)])

export const withinPriceBounds = (filter: ListingFilter): Condition =>
  allOf([sql<SqlBool>`true`, atLeast(filter), atMost(filter)])

/** The part of a filter that the index of prices holds. */
export const passesByPrice = (filter: ListingFilter): Condition =>
  allOf([IS_OFFERED, sql<SqlBool>`price_micros is not null`, withinPriceBounds(filter)])

export const hasPriceBounds = ({ minPrice, maxPrice }: ListingFilter): boolean =>
  minPrice !== undefined || maxPrice !== undefined

export const passesAlso = ({ also }: ListingFilter): Condition => also ?? sql<SqlBool>`true`
