import type { Needs } from '@market/core/context'
import { agentNotFound, findAgent, isOwner } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { pageOf, readCursor } from '@market/kernel/newest-first'
import type { Order } from './order.ts'
import { buyerNames, ownerIn, type Party } from './party.ts'
import type { Status } from './states.ts'
import { findOrdersOf, findOrdersOfAgent } from './store.ts'

interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface OrderPage {
  readonly orders: readonly Order[]
  readonly nextCursor: string | null
}

/** The orders that the party placed, newest first. */
export async function listOrders(ctx: Needs<'db'>, party: Party, page: Page): Promise<OrderPage> {
  const names = { buyers: buyerNames(party), wallets: party.wallets }
  return orderPage(await findOrdersOf(ctx.db, names, queryOf(page)), page.limit)
}

interface AgentOrders extends Page {
  readonly agentId: AgentId
  readonly statuses: readonly Status[]
  readonly listingId?: ListingId | undefined
  readonly since?: Date | undefined
}

/** The orders that an agent received, newest first, for the agent and its owner. */
export async function listAgentOrders(
  ctx: Needs<'db'>,
  party: Party,
  filter: AgentOrders,
): Promise<OrderPage> {
  if (party.agentId !== filter.agentId) await requireOwner(ctx, party, filter.agentId)
  return orderPage(await findOrdersOfAgent(ctx.db, filter, queryOf(filter)), filter.limit)
}

async function requireOwner(ctx: Needs<'db'>, party: Party, agentId: AgentId): Promise<void> {
  const agent = await findAgent(ctx.db, agentId)
  if (agent === undefined) throw agentNotFound(agentId)
  if (party.agentId === undefined && isOwner(agent, ownerIn(party))) return
  // An agent without an owner is visible to itself only.
  if (!agent.marketable) throw agentNotFound(agentId)
  throw new ApiError('forbidden', 'Only the agent and its owner can list its orders.', {
    code: 'not_your_agent',
  })
}

const queryOf = ({ limit, cursor }: Page) => ({ limit: limit + 1, after: readCursor(cursor, 'ord') })

function orderPage(found: readonly Order[], limit: number): OrderPage {
  const { rows, nextCursor } = pageOf(found, limit)
  return { orders: rows, nextCursor }
}
