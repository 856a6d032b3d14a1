import type { Needs } from '@market/core/context'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { readCursor, timeOf, wholeOf, writeCursor } from './cursor.ts'
import type { Listing } from './listing.ts'
import { type ListingFilter, passes, passesAlso } from './listing-filter.ts'
import { type ListingPage, type Page, pageOf } from './page.ts'
import { candidates } from './search-candidates.ts'
import { searchListings } from './search-listings.ts'
import { searchQueryOf } from './search-query.ts'
import { LISTING_COLUMNS, listingOf } from './store.ts'

interface Sort {
  readonly key: RawBuilder<unknown>
  readonly direction: 'asc' | 'desc'
  readonly of: (listing: Listing) => number
  /** The rank of a cursor in the type of the key, or the index could order the rows but not find the page. */
  readonly at: (rank: number) => RawBuilder<unknown>
  /** What the index leaves out, the list leaves out. */
  readonly only?: RawBuilder<SqlBool>
}

const MOST_COUNTED = 2 ** 31 - 1
const MOST_MICROS = 1_000_000_000_000

/** Each is the expression of an index: `listings_popular`, `listings_newest` and so on. */
const SORTS = {
  popular: {
    key: sql`settled_buyers`,
    direction: 'desc',
    of: (listing) => listing.settledBuyers,
    at: (rank) => sql`${wholeOf(rank, MOST_COUNTED)}::integer`,
  },
  newest: {
    key: sql`created_at`,
    direction: 'desc',
    of: (listing) => listing.createdAt.getTime(),
    at: (rank) => sql`${timeOf(rank)}::timestamptz`,
  },
  cheapest: {
    key: sql`price_micros`,
    direction: 'asc',
    of: (listing) => Number(listing.price),
    at: (rank) => sql`${wholeOf(rank, MOST_MICROS)}::bigint`,
    only: sql<SqlBool>`price_micros is not null`,
  },
  /** As if everybody began with five reviews of four stars: one lucky review does not win. */
  rating: {
    key: sql`((rating_sum + 20.0::float8) / (rating_count + 5))`,
    direction: 'desc',
    of: (listing) => (listing.ratingSum + 20) / (listing.ratingCount + 5),
    at: (rank) => sql`${rank}::float8`,
  },
  fastest: {
    key: sql`turnaround_hours`,
    direction: 'asc',
    of: (listing) => listing.turnaroundHours,
    at: (rank) => sql`${wholeOf(rank, MOST_COUNTED)}::integer`,
  },
} as const satisfies Record<string, Sort>

export type ListingSort = keyof typeof SORTS

interface Browsing extends ListingFilter, Page {
  readonly search?: string | undefined
  /** Without one, a search is ranked by how well it fits, and everything else by popularity. */
  readonly sort?: ListingSort | undefined
  /** So many are left out, for readers that know no cursor; a search knows no other way. */
  readonly offset?: number | undefined
}

/** Browses by keyset: a page deep in the list costs what the first one costs. */
export function browseListings(ctx: Needs<'db' | 'clock'>, browsing: Browsing): Promise<ListingPage> {
  const { search, sort } = browsing
  if (search !== undefined && sort === undefined) return searchListings(ctx, search, browsing, browsing)
  return browseSorted(ctx, browsing, sort ?? 'popular')
}

async function browseSorted(ctx: Needs<'db'>, browsing: Browsing, name: ListingSort): Promise<ListingPage> {
  const sort: Sort = SORTS[name]
  const after = readCursor(browsing.cursor, name)
  const conditions = [
    passes(browsing),
    passesAlso(browsing),
    ...(sort.only === undefined ? [] : [sort.only]),
    ...(browsing.search === undefined ? [] : [isHit(browsing.search, browsing)]),
    ...(after === undefined ? [] : [behind(sort, after)]),
  ]
  const rows = await ctx.db
    .selectFrom('listings')
    .select(LISTING_COLUMNS)
    .where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`)
    .orderBy(sort.key, sort.direction)
    .orderBy('id', sort.direction)
    .limit(browsing.limit + 1)
    .offset(browsing.offset ?? 0)
    .execute()
  const found = rows.map((row) => ({ listing: listingOf(row) }))
  return pageOf(found, browsing.limit, ({ listing }) => writeCursor(name, sort.of(listing), listing.id))
}

/** The hits that would be ranked, but for those that hold some of the words only: in this order they could come first. */
function isHit(search: string, filter: ListingFilter) {
  const query = searchQueryOf(search)
  const term = search.trim().toLowerCase()
  return sql<SqlBool>`ctid = any(array(
    with ${query.table}, ${candidates({ query, term, filter, partial: false })} select tid from candidates
  ))`
}

function behind({ key, direction, at }: Sort, after: { rank: number; id: string }) {
  const sign = direction === 'desc' ? sql`<` : sql`>`
  return sql<SqlBool>`(${key}, id) ${sign} (${at(after.rank)}, ${after.id})`
}
