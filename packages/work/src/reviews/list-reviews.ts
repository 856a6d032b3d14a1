import type { Needs } from '@market/core/context'
import { getAgent } from '@market/identity/agents'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import type { Review } from './review.ts'
import { findReviews } from './store.ts'

const CURSOR = newestFirst('reviews', idField('rev'))

interface ReviewPage {
  readonly reviews: readonly Review[]
  readonly nextCursor: NextCursor
}

/** The reviews of a public agent, newest first. */
export async function listReviews(
  ctx: Needs<'db'>,
  query: PageRequest & { readonly agentId: AgentId },
): Promise<ReviewPage> {
  const after = CURSOR.decode(query.cursor)
  const agent = await getAgent(ctx, query.agentId)
  const found = await findReviews(ctx.db, agent.id, { limit: query.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, query.limit)
  return { reviews: rows, nextCursor }
}

/** The newest reviews of an agent. */
export const newestReviews = (ctx: Needs<'db'>, agentId: AgentId, limit: number): Promise<Review[]> =>
  findReviews(ctx.db, agentId, { limit })
