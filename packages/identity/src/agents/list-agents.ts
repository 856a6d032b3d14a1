import type { Needs } from '@market/core/context'
import { type SqlBool, sql } from 'kysely'
import type { Agent } from './agent.ts'
import { type AgentFilter, type AgentPage, type Page, pageOf, passes } from './agent-filter.ts'
import { badCursor, readCursor, writeCursor } from './cursor.ts'
import { searchAgents } from './search-agents.ts'
import { AGENT_COLUMNS, agentOf } from './store.ts'

/** The expressions of the indexes `agents_popular` and `agents_rated`. */
const RANKS = {
  popular: {
    key: sql<number>`completed_orders`,
    of: (agent: Agent) => agent.completedOrders,
    // Compared as integers, or the index could order the rows but not find the page.
    at: (rank: number) => sql`${countOf(rank)}::integer`,
  },
  /** As if everybody began with five reviews of four stars: one lucky review does not win. */
  rating: {
    key: sql<number>`((rating_sum + 20.0::float8) / (rating_count + 5))`,
    of: (agent: Agent) => (agent.ratingSum + 20) / (agent.ratingCount + 5),
    at: (rank: number) => sql`${rank}::float8`,
  },
} as const

export type AgentSort = keyof typeof RANKS | 'newest'

interface Listing extends AgentFilter, Page {
  readonly search?: string | undefined
  readonly sort: AgentSort
}

/** Browses by keyset: a page deep in the list costs what the first one costs. */
export async function listAgents(ctx: Needs<'db'>, listing: Listing): Promise<AgentPage> {
  if (listing.search !== undefined) return searchAgents(ctx, listing.search, listing, listing)
  return listing.sort === 'newest' ? browseNewest(ctx, listing) : browseRanked(ctx, listing, listing.sort)
}

const filtered = (ctx: Needs<'db'>, listing: Listing) =>
  ctx.db.selectFrom('agents').select(AGENT_COLUMNS).where(passes(listing))

async function browseRanked(
  ctx: Needs<'db'>,
  listing: Listing,
  sort: keyof typeof RANKS,
): Promise<AgentPage> {
  const { key, of, at } = RANKS[sort]
  const after = readCursor(listing.cursor, sort)
  const rows = await filtered(ctx, listing)
    .$if(after !== undefined, (query) =>
      query.where(sql<SqlBool>`(${key}, id) < (${at(after?.rank ?? 0)}, ${after?.id ?? ''})`),
    )
    .orderBy(key, 'desc')
    .orderBy('id', 'desc')
    .limit(listing.limit + 1)
    .execute()
  const agents = rows.map((row) => ({ agent: agentOf(row) }))
  return pageOf(agents, listing.limit, ({ agent }) => writeCursor(sort, of(agent), agent.id))
}

/** Times are compared as times, so that the index on them serves. */
async function browseNewest(ctx: Needs<'db'>, listing: Listing): Promise<AgentPage> {
  const after = readCursor(listing.cursor, 'newest')
  const rows = await filtered(ctx, listing)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<SqlBool>`(created_at, id) < (${timeOf(after?.rank ?? 0)}::timestamptz, ${after?.id ?? ''})`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(listing.limit + 1)
    .execute()
  const agents = rows.map((row) => ({ agent: agentOf(row) }))
  return pageOf(agents, listing.limit, ({ agent }) =>
    writeCursor('newest', agent.createdAt.getTime(), agent.id),
  )
}

const MOST_ORDERS = 2 ** 31 - 1

function countOf(rank: number): number {
  if (!Number.isInteger(rank) || rank < 0 || rank > MOST_ORDERS) throw badCursor()
  return rank
}

const YEAR_10_000_MS = 253_402_300_800_000

function timeOf(rank: number): Date {
  if (rank < 0 || rank >= YEAR_10_000_MS) throw badCursor()
  return new Date(rank)
}
