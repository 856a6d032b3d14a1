import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type ListingFilter, passes } from './listing-filter.ts'
import type { SearchQuery } from './search-query.ts'

/** A word on every page has many hits; taking the best-known of them bounds the work of one search. */
const CANDIDATES = 200
/** So many of the best-known are walked through first. */
const BEST_KNOWN = 4_000
/** What so many of those hold is common, and is not looked for among all the rest. */
const COMMON = 40
/** Of all the rest, so many that hold the words are looked at. */
const HELD = 10_000
/** With so many good hits nobody misses the listings that hold some of the words only. */
const ENOUGH = 20

type Condition = RawBuilder<SqlBool>
type Expression = RawBuilder<unknown>

/**
 * The hits of a search as the table `candidates`, from narrow nets to wide ones; a wider one is cast only when those
 * before it left room. Each net is cast twice: among the best-known, and, if it caught little there, by the index of
 * words or of trigrams among all. So the work is bounded for common words, for rare ones, and for those that a filter
 * leaves nothing of, whatever the planner believes. In which net a hit was caught does not count: fit does.
 */
export function candidates(
  query: SearchQuery,
  term: string,
  filter: ListingFilter,
  widest: 'loose' | 'pieces' = 'loose',
) {
  const words = (name: Net, asked: Expression, room: Condition) =>
    net(name, { room, filter, near: sql`search @@ ${asked}`, far: sql`search @@ (select ${asked})` })
  const pattern = titlePattern(term)
  const nets = [
    words('strict', query.strict, sql`true`),
    words('meant', query.meant, fewerThan(CANDIDATES, 'strict')),
    net('pieces', {
      room: pattern === undefined ? sql`false` : fewerThan(ENOUGH, 'strict'),
      filter,
      near: sql`lower(title) like ${pattern ?? ''}`,
      far: sql`lower(title) like (select ${pattern ?? ''})`,
    }),
    words(
      'loose',
      query.loose,
      widest === 'loose' ? fewerThan(ENOUGH, 'strict', 'meant', 'pieces') : sql`false`,
    ),
  ]
  const caught = NETS.flatMap(tablesOf).map((table) => sql`select id from ${table}`)
  return sql`${sql.join(nets)}, candidates as (${sql.join(caught, sql` union `)})`
}

const NETS = ['strict', 'meant', 'pieces', 'loose'] as const
type Net = (typeof NETS)[number]

const nearOf = (net: Net) => sql.ref(`near_${net}`)
const farOf = (net: Net) => sql.ref(`far_${net}`)
const tablesOf = (net: Net) => [nearOf(net), farOf(net)]

interface Cast {
  readonly room: Condition
  readonly filter: ListingFilter
  readonly near: Condition
  /** The same with a value the planner cannot see: else it takes a common word for a reason to read everything. */
  readonly far: Condition
}

function net(name: Net, { room, filter, near, far }: Cast) {
  return sql`
    ${nearOf(name)} as materialized (
      select id from (
        select id, title, search, settled_buyers from listings where ${room} and ${passes(filter)}
        order by settled_buyers desc, id desc limit ${sql.lit(BEST_KNOWN)}
      ) as best where ${near} order by settled_buyers desc, id desc limit ${sql.lit(CANDIDATES)}
    ),
    ${farOf(name)} as materialized (
      select id from (
        select * from listings
        where ${room} and (select count(*) from ${nearOf(name)}) < ${sql.lit(COMMON)}
          and active and marketable and ${far}
        limit ${sql.lit(HELD)}
      ) as held where ${passes(filter)} order by settled_buyers desc, id desc limit ${sql.lit(CANDIDATES)}
    )`
}

/** A condition without columns: Postgres tries it once, and leaves out what it would have guarded. */
function fewerThan(most: number, ...nets: Net[]): Condition {
  const counts = nets.flatMap(tablesOf).map((table) => sql`(select count(*) from ${table})`)
  return sql<SqlBool>`${sql.join(counts, sql` + `)} < ${sql.lit(most)}`
}

/** A piece of the title needs three letters in a row to be found by trigrams; shorter ones match beginnings. */
function titlePattern(term: string): string | undefined {
  const escaped = term.replace(/[\\%_]/g, (character) => `\\${character}`)
  if (/[\p{L}\p{N}]{3}/u.test(term)) return `%${escaped}%`
  return /^[\p{L}\p{N}]/u.test(term) ? `${escaped}%` : undefined
}
