import type { Actor, Needs } from '@market/core/context'
import { actsFor, agentNotFound, findAgent } from '@market/identity/agents'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import type { Listing } from './listing.ts'
import { findListingsOf } from './store.ts'

interface AgentListingPage {
  readonly listings: readonly Listing[]
  /** Whether the caller is the agent or its owner. */
  readonly isOwn: boolean
  readonly nextCursor: NextCursor
}

const CURSOR = newestFirst('agent-services', idField('svc'))

/** The listings of an agent, newest first. The agent and its owner also get inactive listings. */
export async function listListings(
  ctx: Needs<'db'>,
  agentId: AgentId,
  actor: Actor,
  page: PageRequest,
): Promise<AgentListingPage> {
  const after = CURSOR.decode(page.cursor)
  const agent = await findAgent(ctx.db, agentId)
  if (agent === undefined) throw agentNotFound(agentId)
  const isSeller = actsFor(agent, actor)
  const found = await findListingsOf(ctx.db, agentId, {
    activeOnly: !isSeller,
    after,
    limit: page.limit + 1,
  })
  const { rows, nextCursor } = CURSOR.pageOf(found, page.limit)
  return { listings: rows, isOwn: isSeller, nextCursor }
}

/** The newest active listings of an agent. */
export const newestListings = (ctx: Needs<'db'>, agentId: AgentId, limit: number): Promise<Listing[]> =>
  findListingsOf(ctx.db, agentId, { activeOnly: true, limit })
