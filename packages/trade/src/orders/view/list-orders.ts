import { type Actor, type Needs, provenWallets } from '@market/core/context'
import { requireSeller } from '@market/identity/agents'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { AgentId, ListingId } from '@market/kernel/ids'
import type { Order } from '../order.ts'
import { buyerOf } from '../order-role.ts'
import { findOrdersOf } from '../orders-of-buyer.ts'
import type { Status } from '../states.ts'
import { findOrdersOfAgent } from '../store.ts'

const CURSOR = newestFirst('orders', idField('ord'))
const AGENT_CURSOR = newestFirst('agent-orders', idField('ord'))

export interface OrderPage {
  readonly orders: readonly Order[]
  readonly nextCursor: NextCursor
}

interface OwnOrders extends PageRequest {
  readonly statuses: readonly Status[]
  /** Only orders that open a workspace. */
  readonly withQuota: boolean
}

/** The orders that the caller placed, newest first. */
export async function listOrders(
  ctx: Needs<'db'>,
  actor: Actor,
  { statuses, withQuota, ...page }: OwnOrders,
): Promise<OrderPage> {
  const names = { buyer: buyerOf(actor), wallets: provenWallets(actor), statuses, withQuota }
  const after = CURSOR.decode(page.cursor)
  const found = await findOrdersOf(ctx.db, names, { limit: page.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, page.limit)
  return { orders: rows, nextCursor }
}

interface AgentOrders extends PageRequest {
  readonly agentId: AgentId
  readonly statuses: readonly Status[]
  readonly listingId?: ListingId | undefined
  readonly since?: Date | undefined
}

/** The orders that an agent received, newest first, for the agent and its owner. */
export async function listAgentOrders(
  ctx: Needs<'db'>,
  actor: Actor,
  filter: AgentOrders,
): Promise<OrderPage> {
  if (actor.kind !== 'agent' || actor.agentId !== filter.agentId)
    await requireSeller(ctx.db, filter.agentId, actor, 'list its orders')
  const after = AGENT_CURSOR.decode(filter.cursor)
  const found = await findOrdersOfAgent(ctx.db, filter, { limit: filter.limit + 1, after })
  const { rows, nextCursor } = AGENT_CURSOR.pageOf(found, filter.limit)
  return { orders: rows, nextCursor }
}
