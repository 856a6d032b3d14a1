import type { Needs } from '@market/core/context'
import { getAgent, readStars as starsOfAgent } from '@market/identity/agents'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { listingNotFound, readStars as starsOfListing } from '@market/offers/listings'
import type { Review } from './review.ts'
import { findReviews, findReviewsOfListing } from './store.ts'

const CURSOR = newestFirst('reviews', idField('rev'))

interface ReviewPage {
  readonly reviews: readonly Review[]
  /** How many have one star, two stars and so on, on all pages together. */
  readonly stars: readonly number[]
  readonly nextCursor: NextCursor
}

/** The reviews of a public agent or of one of its listings, newest first. */
export async function listReviews(
  ctx: Needs<'db'>,
  query: PageRequest & { readonly agentId: AgentId; readonly listingId?: ListingId | undefined },
): Promise<ReviewPage> {
  const { listingId } = query
  const after = CURSOR.decode(query.cursor)
  const agent = await getAgent(ctx, query.agentId)
  const stars =
    listingId === undefined
      ? await starsOfAgent(ctx.db, agent.id)
      : await starsOfListing(ctx.db, listingId, agent.id)
  if (stars === undefined) throw listingNotFound(String(listingId))
  const page = { limit: query.limit + 1, after }
  const found =
    listingId === undefined
      ? await findReviews(ctx.db, agent.id, page)
      : await findReviewsOfListing(ctx.db, listingId, page)
  const { rows, nextCursor } = CURSOR.pageOf(found, query.limit)
  return { reviews: rows, stars, nextCursor }
}

/** The newest reviews of an agent. */
export const newestReviews = (ctx: Needs<'db'>, agentId: AgentId, limit: number): Promise<Review[]> =>
  findReviews(ctx.db, agentId, { limit })
