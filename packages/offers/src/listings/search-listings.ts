import type { Needs } from '@market/core/context'
import { cursorCodec, dateField, floatField, idField, type PageRequest } from '@market/kernel/cursor'
import { sql } from 'kysely'
import { type ListingFilter, matchesExtra } from './listing-filter.ts'
import type { ListingPage, ScoreParts } from './page.ts'
import { candidates } from './search-candidates.ts'
import { type SearchQuery, searchQueryOf } from './search-query.ts'
import { SUMMARY_COLUMNS, type SummaryRow, summaryOf } from './store.ts'

const CURSOR = cursorCodec<{ rank: number; id: string; asOf: Date }>('services:search', {
  rank: floatField,
  id: idField('svc'),
  asOf: dateField,
})

/** The weights of the score: relevance first, then buyers, rating and age. */
const WEIGHTS = {
  /** For a match of every concept. A concept that matches by a synonym counts less. */
  coverage: 1,
  synonym: 0.6,
  /** Where and how often the words occur: the title counts more than the description. */
  place: 0.6,
  synonymPlace: 0.2,
  likeness: 0.3,
  exactTitle: 1,
  buyers: 0.05,
  rating: 0.02,
  freshness: 0.05,
} as const

/** Weights of the labels D, C, B and A of the column `search`: category is C, description B, title A. */
const PLACES = sql`'{0.05, 0.15, 0.3, 1.0}'::float4[]`

const FRESHNESS_DECAY_S = 90 * 24 * 60 * 60

type Scored = SummaryRow & ScoreParts

/**
 * Matches stemmed words, their synonyms and parts of the title. Ranks by relevance, then by distinct buyers of settled
 * orders, rating and age.
 */
export async function searchListings(
  ctx: Needs<'db' | 'clock'>,
  search: string,
  filter: ListingFilter,
  page: PageRequest,
): Promise<ListingPage> {
  const after = CURSOR.decode(page.cursor)
  // All pages use the time of the first page, so that a listing does not move between pages as it ages.
  const asOf = after?.asOf ?? ctx.clock.now()
  const query = searchQueryOf(search)
  const term = search.trim().toLowerCase()
  const { rows } = await sql<Scored>`
    with ${query.table},
    ${candidates({ query, term, filter, partial: true })},
    parts as (
      select listed.* from queries cross join candidates cross join lateral (
        select ${columns}, ${relevanceOf(query, term)} as relevance, ${otherScores(asOf)}
        from listings where ctid = candidates.tid and ${matchesExtra(filter)} ${NO_FLATTENING}
      ) as listed
    ),
    scored as (select *, relevance + buyers + rating + freshness as score from parts)
    select * from scored
    ${after === undefined ? sql`` : sql`where (score, id) < (${after.rank}::float8, ${after.id})`}
    order by score desc, id desc limit ${page.limit + 1}`.execute(ctx.db)
  const found = CURSOR.pageOf(rows, page.limit, ({ score, id }) => ({ rank: score, id, asOf }))
  return { found: found.rows.map(foundOf), nextCursor: found.nextCursor }
}

/** `offset 0` keeps the planner from reading the whole table to join a few hundred rows. */
const NO_FLATTENING = sql`offset 0`

const columns = sql.join(SUMMARY_COLUMNS.map((name) => sql.ref(name)))

const foundOf = (row: Scored) => {
  const { relevance, buyers, rating, freshness, score } = row
  return { listing: summaryOf(row), why: { relevance, buyers, rating, freshness, score } }
}

function relevanceOf(query: SearchQuery, term: string) {
  const hasSynonyms = query.concepts.some(({ synonyms }) => synonyms.length > 0)
  const placeOf = (name: string, weight: number) =>
    sql`+ ts_rank(${PLACES}, search, ${sql.ref(`queries.${name}`)}) * ${sql.lit(weight)}`
  return sql`(
    ${coverageOf(query)} * ${sql.lit(WEIGHTS.coverage)}
    ${placeOf('words', WEIGHTS.place)}
    ${hasSynonyms ? placeOf('synonyms', WEIGHTS.synonymPlace) : sql``}
    + similarity(lower(title), ${term}) * ${sql.lit(WEIGHTS.likeness)}
    + case when lower(title) = ${term} then ${sql.lit(WEIGHTS.exactTitle)} else 0 end
  )::float8`
}

/** The share of concepts that match, from 0 to 1. Stop words do not count. */
function coverageOf({ concepts }: SearchQuery) {
  if (concepts.length === 0) return sql`(search @@ ${sql.ref('queries.strict')})::integer`
  const hits = concepts.map(({ synonyms }, at) => {
    const bySynonym =
      synonyms.length === 0
        ? sql``
        : sql`when search @@ ${sql.ref(`queries.synonyms_${at}`)} then ${sql.lit(WEIGHTS.synonym)}`
    return sql`case when search @@ ${sql.ref(`queries.words_${at}`)} then 1::float8 ${bySynonym} else 0 end`
  })
  return sql`((${sql.join(hits, sql` + `)}) / queries.concepts)`
}

/** In `float8` throughout: `exp` of a `numeric`, which `extract` returns, takes ten times as long. */
const otherScores = (asOf: Date) => sql`
  (ln(1 + completed_buyers) * ${sql.lit(WEIGHTS.buyers)})::float8 as buyers,
  ((rating_sum + 20.0::float8) / (rating_count + 5) * ${sql.lit(WEIGHTS.rating)})::float8 as rating,
  (exp(-greatest(0, date_part('epoch', ${asOf}::timestamptz - created_at)) / ${sql.lit(FRESHNESS_DECAY_S)})
    * ${sql.lit(WEIGHTS.freshness)})::float8 as freshness`
