import type { Needs } from '@market/core/context'
import { sql } from 'kysely'
import { readCursor, timeOf, writeCursor } from './cursor.ts'
import { type ListingFilter, passesAlso } from './listing-filter.ts'
import { type ListingPage, type Page, pageOf, type Why } from './page.ts'
import { candidates } from './search-candidates.ts'
import { type SearchQuery, searchQueryOf } from './search-query.ts'
import { LISTING_COLUMNS, type ListingRow, listingOf } from './store.ts'

const ORDER = 'search'

/** What each part may weigh: fit comes first, then who bought, then what they said, then how new it is. */
const WEIGHTS = {
  /** All that was asked for, by the words themselves; by a synonym it is worth less. */
  coverage: 1,
  synonym: 0.6,
  /** Where the words stand, and how often: a title says more than a description. */
  place: 0.6,
  akinPlace: 0.2,
  likeness: 0.3,
  exactTitle: 1,
  buyers: 0.05,
  rating: 0.02,
  freshness: 0.05,
} as const

/** Weights of the letters D, C, B and A of the column `search`: category is C, description B, title A. */
const PLACES = sql`'{0.05, 0.15, 0.3, 1.0}'::float4[]`

const FRESH_FOR_S = 90 * 24 * 60 * 60

type Scored = ListingRow & Why

/**
 * Finds by words (stemmed), by their synonyms and by pieces of the title; ranks by how well that fits, then by
 * distinct buyers of settled orders, rating and age. A token's price never counts.
 */
export async function searchListings(
  ctx: Needs<'db' | 'clock'>,
  search: string,
  filter: ListingFilter,
  page: Page,
): Promise<ListingPage> {
  const after = readCursor(page.cursor, ORDER)
  // A list is ranked as of its first page, so that growing older does not move a listing between pages.
  const asOf = after === undefined ? ctx.clock.now() : timeOf(after.asOf)
  const query = searchQueryOf(search)
  const term = search.trim().toLowerCase()
  const { rows } = await sql<Scored>`
    with ${query.table},
    ${candidates({ query, term, filter, partial: true })},
    parts as (
      select listed.* from asked cross join candidates cross join lateral (
        select ${columns}, ${relevanceOf(query, term)} as relevance, ${meritsAsOf(asOf)}
        from listings where ctid = candidates.tid and ${passesAlso(filter)} ${ONE_BY_ONE}
      ) as listed
    ),
    scored as (select *, relevance + buyers + rating + freshness as score from parts)
    select * from scored
    ${after === undefined ? sql`` : sql`where (score, id) < (${after.rank}::float8, ${after.id})`}
    order by score desc, id desc limit ${page.limit + 1}`.execute(ctx.db)
  return pageOf(rows.map(foundOf), page.limit, ({ listing, why }) =>
    writeCursor(ORDER, why.score, listing.id, asOf.getTime()),
  )
}

/** Keeps the planner from reading the whole table to join a few hundred rows of it. */
const ONE_BY_ONE = sql`offset 0`

const columns = sql.join(LISTING_COLUMNS.map((name) => sql.ref(name)))

const foundOf = (row: Scored) => {
  const { relevance, buyers, rating, freshness, score } = row
  return { listing: listingOf(row), why: { relevance, buyers, rating, freshness, score } }
}

function relevanceOf(query: SearchQuery, term: string) {
  const hasAkin = query.concepts.some(({ akin }) => akin.length > 0)
  const placeOf = (name: string, weight: number) =>
    sql`+ ts_rank(${PLACES}, search, ${sql.ref(`asked.${name}`)}) * ${sql.lit(weight)}`
  return sql`(
    ${coverageOf(query)} * ${sql.lit(WEIGHTS.coverage)}
    ${placeOf('said', WEIGHTS.place)}
    ${hasAkin ? placeOf('akin', WEIGHTS.akinPlace) : sql``}
    + similarity(lower(title), ${term}) * ${sql.lit(WEIGHTS.likeness)}
    + case when lower(title) = ${term} then ${sql.lit(WEIGHTS.exactTitle)} else 0 end
  )::float8`
}

/** How much of what was asked for is there, from 0 to 1; stop words ask for nothing. */
function coverageOf({ concepts }: SearchQuery) {
  if (concepts.length === 0) return sql`(search @@ ${sql.ref('asked.strict')})::integer`
  const hits = concepts.map(({ akin }, at) => {
    const byAkin =
      akin.length === 0
        ? sql``
        : sql`when search @@ ${sql.ref(`asked.akin_${at}`)} then ${sql.lit(WEIGHTS.synonym)}`
    return sql`case when search @@ ${sql.ref(`asked.said_${at}`)} then 1::float8 ${byAkin} else 0 end`
  })
  return sql`((${sql.join(hits, sql` + `)}) / asked.concepts)`
}

/** In `float8` throughout: `exp` of a `numeric`, which `extract` returns, takes ten times as long. */
const meritsAsOf = (asOf: Date) => sql`
  (ln(1 + settled_buyers) * ${sql.lit(WEIGHTS.buyers)})::float8 as buyers,
  ((rating_sum + 20.0::float8) / (rating_count + 5) * ${sql.lit(WEIGHTS.rating)})::float8 as rating,
  (exp(-greatest(0, date_part('epoch', ${asOf}::timestamptz - created_at)) / ${sql.lit(FRESH_FOR_S)})
    * ${sql.lit(WEIGHTS.freshness)})::float8 as freshness`
