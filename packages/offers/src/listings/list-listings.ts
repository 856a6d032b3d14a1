import type { Actor, Needs } from '@market/core/context'
import { actsFor, agentNotFound, findAgent } from '@market/identity/agents'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import type { Listing, ListingSummary } from './listing.ts'
import { findListingsOf, findSummariesOf } from './store.ts'

/** Whole listings for the agent and its owner, summaries for others. */
type AgentListingPage = { readonly nextCursor: NextCursor } & (
  | { readonly isOwn: true; readonly listings: readonly Listing[] }
  | { readonly isOwn: false; readonly listings: readonly ListingSummary[] }
)

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
  const asked = { after, limit: page.limit + 1 }
  if (actsFor(agent, actor)) {
    const { rows, nextCursor } = CURSOR.pageOf(await findListingsOf(ctx.db, agentId, asked), page.limit)
    return { isOwn: true, listings: rows, nextCursor }
  }
  const { rows, nextCursor } = CURSOR.pageOf(await findSummariesOf(ctx.db, agentId, asked), page.limit)
  return { isOwn: false, listings: rows, nextCursor }
}

/** The newest active listings of an agent. */
export const newestListings = (
  ctx: Needs<'db'>,
  agentId: AgentId,
  limit: number,
): Promise<ListingSummary[]> => findSummariesOf(ctx.db, agentId, { limit })
