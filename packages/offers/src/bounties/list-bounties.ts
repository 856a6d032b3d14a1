import type { Needs } from '@market/core/context'
import {
  type CursorField,
  cursorCodec,
  idField,
  integerField,
  type NextCursor,
  type PageRequest,
  timestampField,
} from '@market/kernel/cursor'
import { sql } from 'kysely'
import type { Bounty } from './bounty.ts'
import { type BountyFilter, findMatches, type Position, type SortOrder } from './find-matches.ts'
import { bountyOf } from './store.ts'

const MAX_BUDGET_MICROS = 1_000_000_000_000
const MAX_HOURS = 168

interface Sort extends SortOrder {
  readonly rankOf: (bounty: Bounty) => number
  readonly rank: CursorField<number>
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

export interface BountyPage {
  /** Can be fewer than the limit although there is a next page: a request reads a limited number of rows. */
  readonly bounties: readonly Bounty[]
  readonly nextCursor: NextCursor
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
  const { rows, total, scannedTo } = await findMatches(ctx.db, {
    sort,
    filter: query,
    after: codec.decode(query.cursor),
    limit: query.limit + 1,
  })
  const positionOf = (bounty: Bounty): Position => ({ rank: sort.rankOf(bounty), id: bounty.id })
  const page = codec.pageOf(rows.map(bountyOf), query.limit, positionOf)
  const nextCursor = (count: number) =>
    scannedTo === undefined || count < page.rows.length
      ? page.nextCursor(count)
      : codec.encode(positionOf(bountyOf(scannedTo)))
  return { bounties: page.rows, nextCursor, total }
}
