import type { Needs } from '@market/core/context'
import { getAgent } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { pageOf, readCursor } from '@market/kernel/newest-first'
import type { Review } from './review.ts'
import { findReviews } from './store.ts'

interface ReviewPage {
  readonly reviews: readonly Review[]
  readonly nextCursor: string | null
}

/** The reviews of a public agent, newest first. */
export async function listReviews(
  ctx: Needs<'db'>,
  query: { readonly agentId: AgentId; readonly limit: number; readonly cursor?: string | undefined },
): Promise<ReviewPage> {
  const after = readCursor(query.cursor, 'rev')
  const agent = await getAgent(ctx, query.agentId)
  const found = await findReviews(ctx.db, agent.id, { limit: query.limit + 1, after })
  const { rows, nextCursor } = pageOf(found, query.limit)
  return { reviews: rows, nextCursor }
}

/** The newest reviews of an agent. */
export const newestReviews = (ctx: Needs<'db'>, agentId: AgentId, limit: number): Promise<Review[]> =>
  findReviews(ctx.db, agentId, { limit, after: undefined })
