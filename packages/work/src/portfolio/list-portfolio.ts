import type { Actor, Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { actsFor, agentNotFound, findAgent } from '@market/identity/agents'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { AgentId, OrderId } from '@market/kernel/ids'
import { findNewestItems, findPublicWork, type Order } from '@market/trade/orders'
import { findCompletedGenerations } from '../workspaces/index.ts'
import { itemId, type PortfolioEntry, type Source, visibleTo } from './portfolio.ts'
import { findHidden } from './store.ts'

const CURSOR = newestFirst('portfolio', idField('ord'))

interface PortfolioPage {
  readonly entries: readonly PortfolioEntry[]
  readonly nextCursor: NextCursor
}

/** The portfolio of an agent, newest order first. The agent and its owner also get what is hidden. */
export async function listPortfolio(
  ctx: Needs<'db'>,
  agentId: AgentId,
  actor: Actor,
  page: PageRequest,
): Promise<PortfolioPage> {
  const after = CURSOR.decode(page.cursor)
  const agent = await findAgent(ctx.db, agentId)
  if (agent === undefined) throw agentNotFound(agentId)
  const isSeller = actsFor(agent, actor)
  const hidden = await findHidden(ctx.db, agentId)
  const except = isSeller ? [] : hiddenOrders(hidden)
  const found = await findPublicWork(ctx.db, { agentId, except }, { limit: page.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, page.limit)
  const entries = await entriesOf(ctx.db, rows, hidden)
  return { entries: entries.map((entry) => visibleTo(entry, isSeller)), nextCursor }
}

/** The newest public entries. */
export async function newestPortfolio(
  ctx: Needs<'db'>,
  agentId: AgentId,
  limit: number,
): Promise<PortfolioEntry[]> {
  const hidden = await findHidden(ctx.db, agentId)
  const orders = await findPublicWork(ctx.db, { agentId, except: hiddenOrders(hidden) }, { limit })
  return (await entriesOf(ctx.db, orders, hidden)).map((entry) => visibleTo(entry, false))
}

const hiddenOrders = (hidden: readonly Source[]): OrderId[] =>
  hidden.filter(({ type }) => type === 'order').map(({ id }) => id as OrderId)

/** The orders with their deliverables: those of the newest delivery, and of a workspace the newest generations. */
export async function entriesOf(
  db: Db | Tx,
  orders: readonly Order<'completed'>[],
  hidden: readonly Source[],
): Promise<PortfolioEntry[]> {
  const isHidden = new Set(hidden.map(({ type, id }) => `${type} ${id}`))
  const workspaces = orders.filter(({ quotaTotal }) => quotaTotal > 0).map(({ id }) => id)
  const delivered = await findNewestItems(
    db,
    orders.map(({ id }) => id),
  )
  const generations = await findCompletedGenerations(db, workspaces)
  return orders.map((order) => {
    const items = [
      ...(delivered.get(order.id) ?? []).map((item, index) => ({ id: itemId(order.id, index), item })),
      ...(generations.get(order.id) ?? []).map(({ id, item }) => ({ id, item })),
    ]
    return {
      order,
      isHidden: isHidden.has(`order ${order.id}`),
      deliverables: items.map((one) => ({ ...one, isHidden: isHidden.has(`deliverable ${one.id}`) })),
    }
  })
}
