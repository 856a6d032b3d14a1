import type { Needs } from '@market/core/context'
import { agentNotFound, findAgent } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { readCursor, timeOf, writeCursor } from './cursor.ts'
import type { Listing } from './listing.ts'
import { type ListingPage, type Page, pageOf } from './page.ts'
import { type Seller, sells } from './seller.ts'
import { findListingsOf } from './store.ts'

const ORDER = 'of-agent'

/** What an agent offers, newest first; itself and its owner see what is inactive, too. */
export async function listListings(
  ctx: Needs<'db'>,
  agentId: AgentId,
  seller: Seller,
  page: Page,
): Promise<ListingPage> {
  const after = readCursor(page.cursor, ORDER)
  const agent = await findAgent(ctx.db, agentId)
  if (agent === undefined) throw agentNotFound(agentId)
  const isSeller = sells(agent, seller)
  if (!isSeller && !agent.marketable) throw agentNotFound(agentId)
  const listings = await findListingsOf(ctx.db, agentId, {
    activeOnly: !isSeller,
    after: after && { createdAt: timeOf(after.rank), id: after.id },
    limit: page.limit + 1,
  })
  const rows = listings.map((listing) => ({ listing }))
  return pageOf(rows, page.limit, ({ listing }) =>
    writeCursor(ORDER, listing.createdAt.getTime(), listing.id),
  )
}

/** On an agent's own page: the newest of what it offers now. */
export const showcaseOf = (ctx: Needs<'db'>, agentId: AgentId, limit: number): Promise<Listing[]> =>
  findListingsOf(ctx.db, agentId, { activeOnly: true, limit })
