import type { Needs } from '@market/core/context'
import { newestFirstPage } from '@market/database/newest-first'
import type { Db } from '@market/database/transact'
import {
  cursorCodec,
  floatField,
  idField,
  integerField,
  type NextCursor,
  newestFirst,
  type PageRequest,
  shortList,
} from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import { type SqlBool, sql } from 'kysely'
import type { Agent, Owner } from './agent.ts'
import { type AgentFilter, type AgentPage, filterCondition } from './agent-filter.ts'
import { AGENT_COLUMNS, agentOf } from './row.ts'
import { BY_ORDERS, type CandidateOrder, matchingIds, searchAgents } from './search-agents.ts'
import { findOwnedAgents } from './store.ts'

const MAX_ORDERS = 2 ** 31 - 1

/** The expressions of the indexes `agents_popular` and `agents_rated`. */
const RANKS = {
  popular: {
    key: sql<number>`completed_orders`,
    of: (agent: Agent) => agent.completedOrders,
    // Compared as integers; otherwise the index can sort the rows but not find the start of the page.
    at: (rank: number) => sql`${rank}::integer`,
    field: integerField(MAX_ORDERS),
  },
  /** Averaged with five reviews of four stars, so that a single review does not decide. */
  rating: {
    key: sql<number>`((rating_sum + 20.0::float8) / (rating_count + 5))`,
    of: (agent: Agent) => (agent.ratingSum + 20) / (agent.ratingCount + 5),
    at: (rank: number) => sql`${rank}::float8`,
    field: floatField,
  },
} as const

const NEWEST = newestFirst('agents:newest', idField('agt'))

export type AgentSort = keyof typeof RANKS | 'newest'

interface Listing extends AgentFilter, PageRequest {
  readonly search?: string | undefined
  readonly sort?: AgentSort | undefined
}

const CANDIDATE_ORDERS: Readonly<Record<AgentSort, CandidateOrder>> = {
  popular: BY_ORDERS,
  rating: { indexed: RANKS.rating.key, unindexed: sql`${RANKS.rating.key} + 0` },
  newest: { indexed: sql`created_at`, unindexed: sql`created_at + interval '0'` },
}

/**
 * Pages by keyset, so that every page costs the same. Without a sort, a search is ordered by relevance and a list by
 * completed orders.
 */
export async function listAgents(ctx: Needs<'db'>, listing: Listing): Promise<AgentPage> {
  const { search, sort = 'popular' } = listing
  if (search !== undefined && listing.sort === undefined) return searchAgents(ctx, search, listing, listing)
  return sort === 'newest' ? browseNewest(ctx, listing) : browseRanked(ctx, listing, sort)
}

const filtered = (ctx: Needs<'db'>, listing: Listing, sort: AgentSort) =>
  ctx.db
    .selectFrom('agents')
    .select(AGENT_COLUMNS)
    .where(filterCondition(listing))
    .$call((query) =>
      listing.search === undefined
        ? query
        : query.where(sql<SqlBool>`id in (${matchingIds(listing.search, listing, CANDIDATE_ORDERS[sort])})`),
    )

async function browseRanked(
  ctx: Needs<'db'>,
  listing: Listing,
  sort: keyof typeof RANKS,
): Promise<AgentPage> {
  const { key, of, at, field } = RANKS[sort]
  const codec = cursorCodec<{ rank: number; id: string }>(`agents:${sort}`, {
    rank: field,
    id: idField('agt'),
  })
  const after = codec.decode(listing.cursor)
  const rows = await filtered(ctx, listing, sort)
    .$if(after !== undefined, (query) =>
      query.where(sql<SqlBool>`(${key}, id) < (${at(after?.rank ?? 0)}, ${after?.id ?? ''})`),
    )
    .orderBy(key, 'desc')
    .orderBy('id', 'desc')
    .limit(listing.limit + 1)
    .execute()
  const page = codec.pageOf(rows.map(agentOf), listing.limit, (agent) => ({ rank: of(agent), id: agent.id }))
  return { agents: page.rows, nextCursor: page.nextCursor }
}

async function browseNewest(ctx: Needs<'db'>, listing: Listing): Promise<AgentPage> {
  const after = NEWEST.decode(listing.cursor)
  const found = await filtered(ctx, listing, 'newest')
    .$call(newestFirstPage({ limit: listing.limit + 1, after }))
    .execute()
  const { rows, nextCursor } = NEWEST.pageOf(found.map(agentOf), listing.limit)
  return { agents: rows, nextCursor }
}

const OWNED = newestFirst('agents:owned', idField('agt'))

/** The agents of an owner, hidden ones included. */
export async function listOwnedAgents(ctx: Needs<'db'>, owner: Owner, page: PageRequest): Promise<AgentPage> {
  const found = await findOwnedAgents(ctx.db, owner, undefined, {
    limit: page.limit + 1,
    after: OWNED.decode(page.cursor),
  })
  const { rows, nextCursor } = OWNED.pageOf(found, page.limit)
  return { agents: rows, nextCursor }
}

const FEATURED = shortList('featured', 50)

/** In the order that operators set, then the most popular agents. */
export async function featuredAgents(ctx: Needs<'db'>, page: PageRequest): Promise<AgentPage> {
  const { from, to } = FEATURED.rangeOf(page)
  const agents = (await firstFeatured(ctx, to)).slice(from)
  const { rows, nextCursor } = FEATURED.pageOf(agents, page.limit, from)
  return { agents: rows, nextCursor }
}

async function firstFeatured(ctx: Needs<'db'>, limit: number): Promise<Agent[]> {
  const featured = await marketable(ctx)
    .where('featured_rank', 'is not', null)
    .orderBy('featured_rank')
    .orderBy('id')
    .limit(limit)
    .execute()
  const missing = limit - featured.length
  if (missing === 0) return featured.map(agentOf)
  const popular = await marketable(ctx)
    .where('featured_rank', 'is', null)
    .orderBy('completed_orders', 'desc')
    .orderBy('id', 'desc')
    .limit(missing)
    .execute()
  return [...featured, ...popular].map(agentOf)
}

const marketable = (ctx: Needs<'db'>) =>
  ctx.db.selectFrom('agents').select(AGENT_COLUMNS).where('marketable', '=', true)

const MODELS = shortList('models', 200)
/** Counting only the newest agents limits the cost of the query. */
const MODEL_SAMPLE = 5_000

/** The AI models of the newest marketable agents, most used first. */
export async function listModels(
  ctx: Needs<'db'>,
  page: PageRequest,
): Promise<{ readonly models: { model: string; agents: number }[]; readonly nextCursor: NextCursor }> {
  const { from, to } = MODELS.rangeOf(page)
  const { rows } = await sql<{ model: string; agents: bigint }>`
    select model, count(*) as agents
    from (
      select ai_models from agents where marketable order by created_at desc, id desc limit ${MODEL_SAMPLE}
    ) as newest, unnest(ai_models) as model
    group by model order by count(*) desc, model limit ${to}`.execute(ctx.db)
  const models = rows.slice(from).map(({ model, agents }) => ({ model, agents: Number(agents) }))
  const found = MODELS.pageOf(models, page.limit, from)
  return { models: found.rows, nextCursor: found.nextCursor }
}

/** What lists of other things show of an agent. */
export type AgentSummary = Pick<Agent, 'id' | 'slug' | 'name' | 'avatarUrl' | 'verified'>

/** The agents of ids from our own tables, by one query. */
export async function summarizeAgents(
  db: Db,
  ids: readonly AgentId[],
): Promise<(id: AgentId) => AgentSummary> {
  const rows =
    ids.length === 0
      ? []
      : await db
          .selectFrom('agents')
          .select(['id', 'slug', 'name', 'avatar_url as avatarUrl', 'verified'])
          .where('id', 'in', [...new Set(ids)])
          .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return (id) => {
    const agent = byId.get(id)
    if (agent === undefined) throw new Error(`agent ${id} does not exist`)
    return { ...agent, id }
  }
}

/** Every agent that the user owns, closed ones too. */
export async function findAgentsOfUser(db: Db, userId: string): Promise<AgentId[]> {
  const rows = await db.selectFrom('agents').select('id').where('owner_user_id', '=', userId).execute()
  return rows.map((row) => row.id as AgentId)
}
