import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { PriceType } from './listing.ts'

export interface ListingFilter {
  readonly category?: string | undefined
  readonly agentId?: AgentId | undefined
  readonly priceType?: PriceType | undefined
  /** A listing without a price does not match a price limit. */
  readonly minPrice?: Usdc | undefined
  readonly maxPrice?: Usdc | undefined
  readonly maxTurnaroundHours?: number | undefined
  /** A condition of another module on `agent_id`. It reads other tables, so a search applies it last, to the candidates. */
  readonly extra?: RawBuilder<SqlBool> | undefined
}

type Condition = RawBuilder<SqlBool>

const IS_PUBLIC = sql<SqlBool>`active and marketable`

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

const within = ({ maxTurnaroundHours }: ListingFilter) =>
  maxTurnaroundHours === undefined ? undefined : sql<SqlBool>`turnaround_hours <= ${maxTurnaroundHours}`

/** The whole filter except `extra`. Only public listings match. */
export const matchesFilter = (filter: ListingFilter): Condition =>
  allOf([
    IS_PUBLIC,
    inCategory(filter),
    filter.agentId === undefined ? undefined : sql<SqlBool>`agent_id = ${filter.agentId}`,
    ofPriceType(filter),
    atLeast(filter),
    atMost(filter),
    within(filter),
  ])

/** The part of a filter for which an index orders the listings by buyers. */
export const matchesPopularIndex = (filter: ListingFilter): Condition =>
  allOf([IS_PUBLIC, inCategory(filter) ?? ofPriceType(filter)])

/** The part of a filter that the full-text index contains. */
export const matchesSearchIndex = (filter: ListingFilter): Condition =>
  allOf([IS_PUBLIC, inCategory(filter), ofPriceType(filter)])

/** The part of a filter that the full-text index does not contain. */
export const withinBounds = (filter: ListingFilter): Condition =>
  allOf([sql<SqlBool>`true`, atLeast(filter), atMost(filter), within(filter)])

/** A part of a filter that an index other than that of the words contains, and the order of that index. */
export interface Bounds {
  readonly condition: Condition
  readonly order: RawBuilder<unknown>
}

/** The bounds of price, or else of turnaround; undefined when there are none. */
export function boundsOf(filter: ListingFilter): Bounds | undefined {
  if (filter.minPrice !== undefined || filter.maxPrice !== undefined)
    return {
      condition: allOf([IS_PUBLIC, sql<SqlBool>`price_micros is not null`, atLeast(filter), atMost(filter)]),
      order: sql`price_micros, id`,
    }
  return filter.maxTurnaroundHours === undefined
    ? undefined
    : { condition: allOf([IS_PUBLIC, within(filter)]), order: sql`turnaround_hours, id` }
}

export const matchesExtra = ({ extra }: ListingFilter): Condition => extra ?? sql<SqlBool>`true`
