import { sql } from 'kysely'
import type { Needs } from '../context.ts'
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
    with ${candidates(query, term, filter)},
    parts as (
      select listed.* from candidates cross join lateral (
        select ${columns}, ${relevanceOf(query, term)} as relevance, ${meritsAsOf(asOf)}
        from listings where id = candidates.id and ${passesAlso(filter)} ${ONE_BY_ONE}
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
  return sql`(
    ${coverageOf(query)} * ${sql.lit(WEIGHTS.coverage)}
    + ts_rank(${PLACES}, search, ${query.said}) * ${sql.lit(WEIGHTS.place)}
    + ts_rank(${PLACES}, search, ${query.akin}) * ${sql.lit(WEIGHTS.akinPlace)}
    + similarity(lower(title), ${term}) * ${sql.lit(WEIGHTS.likeness)}
    + case when lower(title) = ${term} then ${sql.lit(WEIGHTS.exactTitle)} else 0 end
  )::float8`
}

/** How much of what was asked for is there, from 0 to 1; stop words ask for nothing. */
function coverageOf({ strict, concepts }: SearchQuery) {
  if (concepts.length === 0) return sql`(search @@ ${strict})::integer`
  const hits = concepts.map(
    ({ said, akin }) => sql`case when search @@ ${said} then 1.0
      when search @@ ${akin} then ${sql.lit(WEIGHTS.synonym)} else 0 end`,
  )
  const asked = concepts.map(({ said }) => sql`(numnode(${said}) > 0)::integer`)
  return sql`((${sql.join(hits, sql` + `)})::float8 / greatest(1, ${sql.join(asked, sql` + `)}))`
}

const meritsAsOf = (asOf: Date) => sql`
  (ln(1 + settled_buyers) * ${sql.lit(WEIGHTS.buyers)})::float8 as buyers,
  ((rating_sum + 20.0::float8) / (rating_count + 5) * ${sql.lit(WEIGHTS.rating)})::float8 as rating,
  (exp(-greatest(0, extract(epoch from ${asOf}::timestamptz - created_at)) / ${sql.lit(FRESH_FOR_S)})
    * ${sql.lit(WEIGHTS.freshness)})::float8 as freshness`
