import type { Needs } from '@market/core/context'
import type { Db } from '@market/database/transact'
import {
  type CursorField,
  cursorCodec,
  idField,
  integerField,
  type PageRequest,
  timestampField,
} from '@market/kernel/cursor'
import type { Usdc } from '@market/kernel/money'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Bounty } from './bounty.ts'
import type { BountyStatus } from './states.ts'
import { BOUNTY_COLUMNS, bountyOf } from './store.ts'

/** More matches are not counted: the cost of a total must not grow with the number of bounties. */
export const MAX_TOTAL = 1_000

const MAX_BUDGET_MICROS = 1_000_000_000_000
const MAX_HOURS = 168

interface Sort {
  readonly column: 'created_at' | 'budget_micros' | 'deadline_hours'
  readonly direction: 'asc' | 'desc'
  readonly rankOf: (bounty: Bounty) => number
  readonly rank: CursorField<number>
  /** The rank of a cursor, cast to the type of the column. */
  readonly rankSql: (rank: number) => RawBuilder<unknown>
}

/** Each is the order of two indexes, with and without a category: `bounties_newest`, `bounties_newest_in` and so on. */
const SORTS = {
  newest: {
    column: 'created_at',
    direction: 'desc',
    rankOf: ({ createdAt }) => createdAt.getTime(),
    rank: timestampField,
    rankSql: (rank) => sql`${new Date(rank)}::timestamptz`,
  },
  budget_desc: {
    column: 'budget_micros',
    direction: 'desc',
    rankOf: ({ budget }) => Number(budget),
    rank: integerField(MAX_BUDGET_MICROS),
    rankSql: (rank) => sql`${rank}::bigint`,
  },
  deadline_asc: {
    column: 'deadline_hours',
    direction: 'asc',
    rankOf: ({ deadlineHours }) => deadlineHours,
    rank: integerField(MAX_HOURS),
    rankSql: (rank) => sql`${rank}::integer`,
  },
} as const satisfies Record<string, Sort>

export type BountySort = keyof typeof SORTS

interface Position {
  readonly rank: number
  readonly id: string
}

export interface BountyFilter {
  readonly status: BountyStatus
  readonly category?: string | undefined
  readonly minBudget?: Usdc | undefined
  readonly maxBudget?: Usdc | undefined
  /** Words of title, brief and category. */
  readonly search?: string | undefined
}

export interface BountyPage {
  readonly bounties: readonly Bounty[]
  readonly nextCursor: string | null
  /** At most `MAX_TOTAL`. */
  readonly total: number
}

/** Public. Pages by keyset, so that the cost of a page does not depend on its position. */
export async function listBounties(
  ctx: Needs<'db'>,
  query: BountyFilter & PageRequest & { readonly sort: BountySort },
): Promise<BountyPage> {
  const sort: Sort = SORTS[query.sort]
  const codec = cursorCodec<Position>(`bounties:${query.sort}`, { rank: sort.rank, id: idField('bnty') })
  const after = codec.decode(query.cursor)
  const matching = matches(query)
  const rows = await ctx.db
    .selectFrom('bounties')
    .select(BOUNTY_COLUMNS)
    .where(after === undefined ? matching : sql<SqlBool>`${matching} and ${isAfter(sort, after)}`)
    .orderBy(sort.column, sort.direction)
    .orderBy('id', sort.direction)
    .limit(query.limit + 1)
    .execute()
  const page = codec.pageOf(rows.map(bountyOf), query.limit, (bounty) => ({
    rank: sort.rankOf(bounty),
    id: bounty.id,
  }))
  return {
    bounties: page.rows,
    nextCursor: page.nextCursor,
    total: await countMatches(ctx.db, sort, matching),
  }
}

type Condition = RawBuilder<SqlBool>

function matches({ status, category, minBudget, maxBudget, search }: BountyFilter): Condition {
  const conditions: Condition[] = [
    sql`status = ${status}`,
    ...(category === undefined ? [] : [sql<SqlBool>`category = ${category}`]),
    ...(minBudget === undefined ? [] : [sql<SqlBool>`budget_micros >= ${minBudget}`]),
    ...(maxBudget === undefined ? [] : [sql<SqlBool>`budget_micros <= ${maxBudget}`]),
    ...(search === undefined ? [] : [matchesWords(search)]),
  ]
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

/** Every word, with quotes and minus; stemmed or exact. */
const matchesWords = (search: string): Condition => sql`
  search @@ (websearch_to_tsquery('english', ${search}) || websearch_to_tsquery('simple', ${search}))`

function isAfter({ column, direction, rankSql }: Sort, after: Position): Condition {
  const sign = direction === 'desc' ? sql`<` : sql`>`
  return sql`(${sql.ref(column)}, id) ${sign} (${rankSql(after.rank)}, ${after.id})`
}

/** In the order of the list, so that the same index serves it. */
async function countMatches(db: Db, { column, direction }: Sort, matching: Condition): Promise<number> {
  const order = direction === 'desc' ? sql`desc` : sql`asc`
  const { rows } = await sql<{ total: bigint }>`
    select count(*) as total from (
      select from bounties where ${matching}
      order by ${sql.ref(column)} ${order}, id ${order} limit ${MAX_TOTAL}
    ) as counted`.execute(db)
  return Number(rows[0]?.total ?? 0n)
}
