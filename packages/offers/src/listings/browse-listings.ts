import type { Needs } from '@market/core/context'
import {
  type CursorField,
  cursorCodec,
  floatField,
  idField,
  integerField,
  type PageRequest,
  timestampField,
} from '@market/kernel/cursor'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ListingSummary } from './listing.ts'
import { type ListingFilter, matchesExtra, matchesFilter } from './listing-filter.ts'
import type { ListingPage } from './page.ts'
import { candidates } from './search-candidates.ts'
import { searchListings } from './search-listings.ts'
import { searchQueryOf } from './search-query.ts'
import { SUMMARY_COLUMNS, summaryOf } from './store.ts'

interface Position {
  readonly rank: number
  readonly id: string
}

interface Sort {
  readonly key: RawBuilder<unknown>
  readonly direction: 'asc' | 'desc'
  readonly rankOf: (listing: ListingSummary) => number
  /** The ranks that the type of the key can hold. */
  readonly rank: CursorField<number>
  /** The rank of a cursor, cast to the type of the key. With another type Postgres cannot seek in the index. */
  readonly rankSql: (rank: number) => RawBuilder<unknown>
  /** The condition of a partial index. */
  readonly condition?: RawBuilder<SqlBool>
}

const MAX_INTEGER = 2 ** 31 - 1
const MAX_PRICE_MICROS = 1_000_000_000_000

/** Each key is the expression of an index: `listings_popular`, `listings_newest` and so on. */
const SORTS = {
  popular: {
    key: sql`completed_buyers`,
    direction: 'desc',
    rankOf: (listing) => listing.completedBuyers,
    rank: integerField(MAX_INTEGER),
    rankSql: (rank) => sql`${rank}::integer`,
  },
  newest: {
    key: sql`created_at`,
    direction: 'desc',
    rankOf: (listing) => listing.createdAt.getTime(),
    rank: timestampField,
    rankSql: (rank) => sql`${new Date(rank)}::timestamptz`,
  },
  cheapest: {
    key: sql`price_micros`,
    direction: 'asc',
    rankOf: (listing) => Number(listing.price),
    rank: integerField(MAX_PRICE_MICROS),
    rankSql: (rank) => sql`${rank}::bigint`,
    condition: sql<SqlBool>`price_micros is not null`,
  },
  /** A Bayesian average with five assumed reviews of four stars, so that a single review does not rank first. */
  rating: {
    key: sql`((rating_sum + 20.0::float8) / (rating_count + 5))`,
    direction: 'desc',
    rankOf: (listing) => (listing.ratingSum + 20) / (listing.ratingCount + 5),
    rank: floatField,
    rankSql: (rank) => sql`${rank}::float8`,
  },
  fastest: {
    key: sql`turnaround_hours`,
    direction: 'asc',
    rankOf: (listing) => listing.turnaroundHours,
    rank: integerField(MAX_INTEGER),
    rankSql: (rank) => sql`${rank}::integer`,
  },
} as const satisfies Record<string, Sort>

export type ListingSort = keyof typeof SORTS

interface BrowseQuery extends ListingFilter, PageRequest {
  readonly search?: string | undefined
  /** The default is relevance for a search and popularity otherwise. */
  readonly sort?: ListingSort | undefined
  /** For callers that cannot use a cursor. */
  readonly offset?: number | undefined
}

/** Pages by keyset, so that the cost of a page does not depend on its position. */
export function browseListings(ctx: Needs<'db' | 'clock'>, browsing: BrowseQuery): Promise<ListingPage> {
  const { search, sort } = browsing
  if (search !== undefined && sort === undefined) return searchListings(ctx, search, browsing, browsing)
  return browseSorted(ctx, browsing, sort ?? 'popular')
}

async function browseSorted(
  ctx: Needs<'db'>,
  browsing: BrowseQuery,
  name: ListingSort,
): Promise<ListingPage> {
  const sort: Sort = SORTS[name]
  const codec = cursorCodec<Position>(`services:${name}`, { rank: sort.rank, id: idField('svc') })
  const after = codec.decode(browsing.cursor)
  const conditions = [
    matchesFilter(browsing),
    matchesExtra(browsing),
    ...(sort.condition === undefined ? [] : [sort.condition]),
    ...(browsing.search === undefined ? [] : [matchesSearch(browsing.search, browsing)]),
    ...(after === undefined ? [] : [isAfter(sort, after)]),
  ]
  const rows = await ctx.db
    .selectFrom('listings')
    .select(SUMMARY_COLUMNS)
    .where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`)
    .orderBy(sort.key, sort.direction)
    .orderBy('id', sort.direction)
    .limit(browsing.limit + 1)
    .offset(browsing.offset ?? 0)
    .execute()
  const page = codec.pageOf(rows.map(summaryOf), browsing.limit, (listing) => ({
    rank: sort.rankOf(listing),
    id: listing.id,
  }))
  return { found: page.rows.map((listing) => ({ listing })), nextCursor: page.nextCursor }
}

/** Partial matches are excluded: without ranking by relevance they could come first. */
function matchesSearch(search: string, filter: ListingFilter) {
  const query = searchQueryOf(search)
  const term = search.trim().toLowerCase()
  return sql<SqlBool>`ctid = any(array(
    with ${query.table}, ${candidates({ query, term, filter, partial: false })} select tid from candidates
  ))`
}

function isAfter({ key, direction, rankSql }: Sort, after: Position) {
  const sign = direction === 'desc' ? sql`<` : sql`>`
  return sql<SqlBool>`(${key}, id) ${sign} (${rankSql(after.rank)}, ${after.id})`
}
