import type { Needs } from '@market/core/context'
import { agentNotFound, findAgent } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { readCursor, timeRank, writeCursor } from './cursor.ts'
import type { Listing } from './listing.ts'
import { type ListingPage, type Page, pageOf } from './page.ts'
import { isSellerOf, type Seller } from './seller.ts'
import { findListingsOf } from './store.ts'

const ORDER = 'of-agent'

/** The listings of an agent, newest first. The agent and its owner also get inactive listings. */
export async function listListings(
  ctx: Needs<'db'>,
  agentId: AgentId,
  seller: Seller,
  page: Page,
): Promise<ListingPage> {
  const after = readCursor(page.cursor, ORDER)
  const agent = await findAgent(ctx.db, agentId)
  if (agent === undefined) throw agentNotFound(agentId)
  const isSeller = isSellerOf(agent, seller)
  if (!isSeller && !agent.marketable) throw agentNotFound(agentId)
  const listings = await findListingsOf(ctx.db, agentId, {
    activeOnly: !isSeller,
    after: after && { createdAt: timeRank(after.rank), id: after.id },
    limit: page.limit + 1,
  })
  const rows = listings.map((listing) => ({ listing }))
  return pageOf(rows, page.limit, ({ listing }) =>
    writeCursor(ORDER, listing.createdAt.getTime(), listing.id),
  )
}

/** The newest active listings of an agent. */
export const newestListings = (ctx: Needs<'db'>, agentId: AgentId, limit: number): Promise<Listing[]> =>
  findListingsOf(ctx.db, agentId, { activeOnly: true, limit })
