import type { Db } from '@market/database/transact'
import type { Usdc } from '@market/kernel/money'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { parseSearch } from './search-terms.ts'
import type { BountyStatus } from './states.ts'
import { BOUNTY_COLUMNS, type BountyRow } from './store.ts'

/** More matches are not counted: the cost of a total must not grow with the number of bounties. */
export const MAX_TOTAL = 1_000
/** Rows that are read to find out whether the matches are common, and how many of them match then. */
const SAMPLE = { rows: 500, common: 100 }
/** Rows that are read from a lookup by budget or by words. With this many, the matches are common. */
const LOOKED_UP = 3_000
/** Rows that are read in the order of the list when the matches are common. A larger limit makes Postgres sort the table. */
const SCANNED = 5_000

export interface BountyFilter {
  readonly status: BountyStatus
  readonly category?: string | undefined
  readonly minBudget?: Usdc | undefined
  readonly maxBudget?: Usdc | undefined
  /** Words of title, brief and category. */
  readonly search?: string | undefined
}

/** An order of the list. It is that of two indexes, with and without a category. */
export interface SortOrder {
  readonly column: 'created_at' | 'budget_micros' | 'deadline_hours'
  readonly direction: 'asc' | 'desc'
  /** The rank of a cursor, cast to the type of the column. */
  readonly rankSql: (rank: number) => RawBuilder<unknown>
}

export interface Position {
  readonly rank: number
  readonly id: string
}

export interface BountyQuery {
  readonly sort: SortOrder
  readonly filter: BountyFilter
  readonly after: Position | undefined
  readonly limit: number
}

interface Matches {
  readonly rows: readonly BountyRow[]
  readonly total: number
  /** The last row that was read, when `rows` are fewer than the limit and further rows may match. */
  readonly scannedTo?: BountyRow
}

type Condition = RawBuilder<SqlBool>

const COLUMNS = sql.join(BOUNTY_COLUMNS.map((name) => sql.ref(name)))

/**
 * One page and the total. What an index of the order can check is read in that order. Otherwise, unless the matches are
 * common, each lookup reads a limited number of rows by another index: when those are all, its matches are sorted. When
 * there are more, the rows are read in order; after `SCANNED` rows the page ends and the next one goes on from there.
 */
export async function findMatches(db: Db, query: BountyQuery): Promise<Matches> {
  if (furtherConditions(query).length === 0)
    return { rows: await scan(db, query), total: await countInOrder(db, query) }
  let counted = (await isCommon(db, query)) ? await countInOrder(db, query) : 0
  for (const source of counted === MAX_TOTAL ? [] : lookups(query)) {
    const { rows, total, isCutOff } = await lookUp(db, query, source)
    if (!isCutOff) return { rows, total }
    counted = Math.max(counted, total)
  }
  const rows = await scan(db, query)
  const total = counted === MAX_TOTAL ? counted : Math.max(counted, await countInOrder(db, query))
  const scannedTo = rows.length < query.limit ? await lastScanned(db, query) : undefined
  return { rows, total, ...(scannedTo !== undefined && { scannedTo }) }
}

const isCommon = async (db: Db, query: BountyQuery): Promise<boolean> =>
  (await countInOrder(db, query, SAMPLE.rows, SAMPLE.common)) === SAMPLE.common

const inCategory = ({ category }: BountyFilter): Condition[] =>
  category === undefined ? [] : [sql`category = ${category}`]

/** What every index of the list checks. */
const indexed = (filter: BountyFilter): Condition[] => [sql`status = ${filter.status}`, ...inCategory(filter)]

const budgetBounds = ({ minBudget, maxBudget }: BountyFilter): Condition[] => [
  ...(minBudget === undefined ? [] : [sql<SqlBool>`budget_micros >= ${minBudget}`]),
  ...(maxBudget === undefined ? [] : [sql<SqlBool>`budget_micros <= ${maxBudget}`]),
]

const isByBudget = ({ column }: SortOrder): boolean => column === 'budget_micros'

const inOrder = ({ sort, filter }: BountyQuery): Condition[] => [
  ...indexed(filter),
  ...(isByBudget(sort) ? budgetBounds(filter) : []),
]

/** What the index of the order cannot check. */
const furtherConditions = ({ sort, filter }: BountyQuery): Condition[] => [
  ...(isByBudget(sort) ? [] : budgetBounds(filter)),
  ...hasWords(filter),
]

const hasWords = ({ search }: BountyFilter): Condition[] =>
  search === undefined ? [] : [sql`search @@ ${wordsOf(search)}`]

/** Every word or quoted phrase, stemmed or exact, and none of those after a minus. */
function wordsOf(search: string): RawBuilder<unknown> {
  const { required, excluded } = parseSearch(search)
  const none = excluded.map((term) => sql` && !! ${inEitherForm(term)}`)
  return sql`(${inEitherForm(required)}${sql.join(none, sql``)})`
}

/** Stemmed or exact: only the title has exact words in the vector. */
const inEitherForm = (terms: string) =>
  sql`(websearch_to_tsquery('english', ${terms}) || websearch_to_tsquery('simple', ${terms}))`

const all = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql`true` : sql<SqlBool>`${sql.join(conditions, sql` and `)}`

const orderOf = ({ column, direction }: SortOrder) =>
  sql`${sql.ref(column)} ${sql.raw(direction)}, id ${sql.raw(direction)}`

function isAfter({ sort: { column, direction, rankSql }, after }: BountyQuery): Condition[] {
  if (after === undefined) return []
  const sign = direction === 'desc' ? sql`<` : sql`>`
  return [sql`(${sql.ref(column)}, id) ${sign} (${rankSql(after.rank)}, ${after.id})`]
}

/** The first rows in the order of the list, after the cursor or from the beginning. */
const firstRows = (
  query: BountyQuery,
  { columns, after, most }: { columns: RawBuilder<unknown>; after: readonly Condition[]; most: number },
) => sql`
  select ${columns} from bounties where ${all([...inOrder(query), ...after])}
  order by ${orderOf(query.sort)} limit ${most}`

/** How many rows are read to find `wanted` matches: no more than those when every row matches. */
const mostRows = (query: BountyQuery, wanted: number): number =>
  furtherConditions(query).length === 0 ? wanted : SCANNED

async function scan(db: Db, query: BountyQuery): Promise<BountyRow[]> {
  const most = mostRows(query, query.limit)
  const read = firstRows(query, { columns: sql`${COLUMNS}, search`, after: isAfter(query), most })
  const { rows } = await sql<BountyRow>`
    select ${COLUMNS} from (${read}) as scanned
    where ${all(furtherConditions(query))} order by ${orderOf(query.sort)} limit ${query.limit}`.execute(db)
  return rows
}

async function lastScanned(db: Db, query: BountyQuery): Promise<BountyRow | undefined> {
  const read = firstRows(query, { columns: COLUMNS, after: isAfter(query), most: SCANNED })
  const { rows } = await sql<BountyRow>`
    select ${COLUMNS} from (${read}) as scanned order by ${orderOf(query.sort)} offset ${SCANNED - 1}`.execute(
    db,
  )
  return rows[0]
}

async function countInOrder(
  db: Db,
  query: BountyQuery,
  most = mostRows(query, MAX_TOTAL),
  limit = MAX_TOTAL,
): Promise<number> {
  const read = firstRows(query, { columns: sql`budget_micros, search`, after: [], most })
  const { rows } = await sql<{ total: bigint }>`
    select count(*) as total from (
      select from (${read}) as scanned where ${all(furtherConditions(query))} limit ${limit}
    ) as counted`.execute(db)
  return Number(rows[0]?.total ?? 0n)
}

/** A limited number of rows that match a part of the filter, and what remains to be checked. */
interface Lookup {
  readonly rows: RawBuilder<unknown>
  readonly remaining: readonly Condition[]
}

function lookups({ filter }: BountyQuery): Lookup[] {
  const { search, status } = filter
  const bounds = budgetBounds(filter)
  const byBudget: Lookup = {
    rows: sql`
      select ctid as tid, id, budget_micros, deadline_hours, created_at, search from bounties
      where ${all([...indexed(filter), ...bounds])} order by budget_micros desc, id desc limit ${LOOKED_UP}`,
    remaining: hasWords(filter),
  }
  const byWords: Lookup = {
    rows: sql`select * from find_bounties_with(${wordsOf(search ?? '')}, ${status}, ${LOOKED_UP})`,
    remaining: [...inCategory(filter), ...bounds],
  }
  return [...(bounds.length === 0 ? [] : [byBudget]), ...(search === undefined ? [] : [byWords])]
}

async function lookUp(
  db: Db,
  query: BountyQuery,
  { rows: source, remaining }: Lookup,
): Promise<{ rows: BountyRow[]; total: number; isCutOff: boolean }> {
  const { column, direction } = query.sort
  const columns = sql.join(BOUNTY_COLUMNS.map((name) => sql.ref(`bounties.${name}`)))
  // Rows are passed on by `ctid`, which is stable within a statement. Without a match there is one row with the counts.
  const { rows } = await sql<BountyRow & { total: bigint; read: bigint }>`
    with looked_up as materialized (${source}),
      matching as materialized (select tid, id, ${sql.ref(column)} from looked_up where ${all(remaining)}),
      page as (
        select tid from matching where ${all(isAfter(query))} order by ${orderOf(query.sort)} limit ${query.limit}
      ),
      counts as (select (select count(*) from looked_up) as read, (select count(*) from matching) as total)
    select counts.*, ${columns} from counts left join (page join bounties on bounties.ctid = page.tid) on true
    order by ${sql.ref(`bounties.${column}`)} ${sql.raw(direction)}, bounties.id ${sql.raw(direction)}`.execute(
    db,
  )
  return {
    rows: rows.filter(({ id }) => id !== null),
    total: Math.min(MAX_TOTAL, Number(rows[0]?.total)),
    isCutOff: Number(rows[0]?.read) === LOOKED_UP,
  }
}
