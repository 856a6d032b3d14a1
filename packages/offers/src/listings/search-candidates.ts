import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  type Bounds,
  boundsOf,
  type ListingFilter,
  matchesFilter,
  matchesPopularIndex,
  matchesSearchIndex,
  withinBounds,
} from './listing-filter.ts'
import { queryNamed, type SearchQuery } from './search-query.ts'

/** Each stage passes on at most this many matches, those with the most buyers. */
const CANDIDATES = 200
/** Rows that are read to find out how common a search is. */
const SAMPLE = 200
/** Rows in order of buyers that are read for a common search. A larger limit makes Postgres sort a small table instead. */
const MOST_BOUGHT = 3_000
/** Rows that are read from a lookup by words, by pieces of the title or by bounds. */
const LOOKED_UP = 10_000
/** With this many matches, a search does not go on to listings that match less. */
const ENOUGH = 20

type Condition = RawBuilder<SqlBool>
type Expression = RawBuilder<unknown>

type Stage = 'strict' | 'synonyms' | 'title' | 'any'

interface Search {
  readonly query: SearchQuery
  readonly term: string
  readonly filter: ListingFilter
  /** Whether listings that match some of the words only may be found. */
  readonly partial: boolean
}

interface Tables {
  readonly stage: Stage
  readonly names: readonly string[]
  readonly sql: RawBuilder<unknown>
}

/**
 * The matches of a search as common table expressions, the last of which is `candidates (tid)`. A stage runs only when
 * those before it found too little. It reads the most bought listings in order, which is fast when the search is common
 * among them, or looks its words up in an index, which is fast when it is not. Either way it passes on the matches with
 * the most buyers, so paging does not depend on which way was taken. Every read has a limit, so no plan depends on
 * an estimate of how many rows match. Rows are passed on by `ctid`: it is stable within a statement, and joining by it
 * costs a tenth of joining by `id`.
 */
export function candidates({ query, term, filter, partial }: Search) {
  const stages: Tables[] = []
  const add = (stage: Stage, matches: Condition, runs: Condition) =>
    stages.push(tablesOf(stage, { filter, matches, runs }))
  const fewerThan = (count: number, ...of: Stage[]) => {
    const names = stages.filter(({ stage }) => of.includes(stage)).flatMap((stage) => stage.names)
    return sql<SqlBool>`${sql.join(names.map(countOf), sql` + `)} < ${sql.lit(count)}`
  }
  add('strict', sql`search @@ ${queryNamed('strict')}`, sql`true`)
  if (query.hasSynonyms)
    add('synonyms', sql`search @@ ${queryNamed('every_concept')}`, fewerThan(CANDIDATES, 'strict'))
  const pattern = titlePattern(term)
  if (pattern !== undefined)
    add('title', sql`lower(title) like (select ${pattern})`, fewerThan(ENOUGH, 'strict'))
  if (partial && query.concepts.length > 1)
    add('any', sql`search @@ ${queryNamed('any_concept')}`, fewerThan(ENOUGH, 'strict', 'synonyms', 'title'))
  const found = stages.flatMap(({ names }) => names).map((name) => sql`select tid from ${sql.ref(name)}`)
  return sql`
    ${filter.agentId === undefined ? sql`${mostBought(filter)},` : sql``}
    ${sql.join(stages.map((stage) => stage.sql))},
    candidates as (${sql.join(found, sql` union `)})`
}

const countOf = (name: string) => sql`(select count(*) from ${sql.ref(name)})`

const BEST_FIRST = sql`order by completed_buyers desc, id desc`

/**
 * Reading in order of buyers costs about `CANDIDATES / share` rows, a lookup `share * all` rows: they cost the same
 * where the share of matching rows is `sqrt(CANDIDATES / all)`. The tables are filled only as far as they are read.
 */
const mostBought = (filter: ListingFilter) => sql`
  most_bought as materialized (
    select ctid as tid, title, search, category, price_type, price_micros, turnaround_hours, active, marketable
    from listings
    where ${matchesPopularIndex(filter)} ${BEST_FIRST} limit ${sql.lit(MOST_BOUGHT)}
  ),
  common as materialized (
    select ${sql.lit(SAMPLE)} * sqrt(${sql.lit(CANDIDATES)} / greatest(reltuples, ${sql.lit(CANDIDATES)})) as matches
    from pg_class where oid = 'listings_popular'::regclass
  )`

interface Reading {
  readonly filter: ListingFilter
  readonly matches: Condition
  /** Without columns, so Postgres evaluates it once and reads nothing when it is false. */
  readonly runs: Condition
}

function tablesOf(stage: Stage, reading: Reading): Tables {
  const parts = reading.filter.agentId === undefined ? inMarket(stage, reading) : ofAgent(stage, reading)
  const tables = parts.map(({ name, rows }) => sql`${sql.ref(name)} as materialized (${rows})`)
  const names = parts.filter(({ isStep }) => isStep !== true).map(({ name }) => name)
  return { stage, names, sql: sql.join(tables) }
}

interface Part {
  readonly name: string
  readonly rows: Expression
  /** Only other parts read it; its rows are not candidates. */
  readonly isStep?: boolean
}

/** An agent has at most 200 active listings: all of them are read. */
const ofAgent = (stage: Stage, { filter, matches, runs }: Reading): Part[] => [
  {
    name: `of_agent_${stage}`,
    rows: sql`
      select tid from (
        select ctid as tid, title, search from listings where ${runs} and ${matchesFilter(filter)} offset 0
      ) as offered where ${matches}`,
  },
]

function inMarket(stage: Stage, { filter, matches, runs }: Reading): Part[] {
  const [plan, popular, lookup] = [`plan_${stage}`, `popular_${stage}`, `lookup_${stage}`]
  const isCommon = sql<SqlBool>`(select common from ${sql.ref(plan)})`
  const isRare = sql<SqlBool>`(select rare from ${sql.ref(plan)})`
  const isShort = sql<SqlBool>`${isCommon} and ${countOf(popular)} < ${sql.lit(CANDIDATES)}`
  const isCutOff = sql<SqlBool>`${isRare} and ${countOf(lookup)} = ${sql.lit(LOOKED_UP)}`
  // The rows of a table are read in the order they were written in, which is that of buyers.
  const mostBoughtWhere = (when: Condition) => sql`
    select tid from most_bought where ${when} and ${matchesFilter(filter)} and ${matches} limit ${sql.lit(CANDIDATES)}`
  const bounds = boundsOf(filter)
  const inBounds = ({ condition, order }: Bounds): Part => ({
    name: `bounded_${stage}`,
    rows: sql`
      select tid from (
        select ctid as tid, id, title, search, completed_buyers, category, price_type, price_micros, turnaround_hours,
          active, marketable
        from listings where (${isShort} or ${isCutOff}) and ${condition}
        order by ${order} limit ${sql.lit(LOOKED_UP)}
      ) as within_bounds where ${matchesFilter(filter)} and ${matches} ${BEST_FIRST} limit ${sql.lit(CANDIDATES)}`,
  })
  return [
    {
      // When the stage does not run, it is neither common nor rare.
      name: plan,
      isStep: true,
      rows: sql`
        select runs and is_common as common, runs and not is_common as rare from (
          select ${runs} as runs, case when ${runs} then (
            select count(*) from (select title, search from most_bought limit ${sql.lit(SAMPLE)}) as sample
            where ${matches}
          ) >= (select matches from common) end as is_common offset 0
        ) as sampled`,
    },
    { name: popular, rows: mostBoughtWhere(isCommon) },
    {
      name: lookup,
      isStep: true,
      rows: sql`
        select ctid as tid, id, completed_buyers, price_micros, turnaround_hours from listings
        where (${bounds !== undefined ? isRare : sql`${isRare} or ${isShort}`}) and ${matchesSearchIndex(filter)} and ${matches}
        limit ${sql.lit(LOOKED_UP)}`,
    },
    {
      name: `found_${stage}`,
      rows: sql`
        select tid from ${sql.ref(lookup)} where ${withinBounds(filter)}
        ${BEST_FIRST} limit ${sql.lit(CANDIDATES)}`,
    },
    { name: `more_${stage}`, rows: mostBoughtWhere(isCutOff) },
    // A common word within narrow bounds is found by the bounds.
    ...(bounds === undefined ? [] : [inBounds(bounds)]),
  ]
}

/** A piece of the title needs three letters in a row to be found by trigrams; shorter ones match beginnings. */
function titlePattern(term: string): string | undefined {
  const escaped = term.replace(/[\\%_]/g, (character) => `\\${character}`)
  if (/[\p{L}\p{N}]{3}/u.test(term)) return `%${escaped}%`
  return /^[\p{L}\p{N}]/u.test(term) ? `${escaped}%` : undefined
}
