import type { Needs } from '@market/core/context'
import { agentNotFound, findAgent, isOwner } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { readCursor, writeCursor } from './cursor.ts'
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

/** What a party has bought, newest first. */
export async function listOrders(ctx: Needs<'db'>, party: Party, page: Page): Promise<OrderPage> {
  const names = { buyers: buyerNames(party), wallets: party.wallets }
  return pageOf(await findOrdersOf(ctx.db, names, wanted(page)), page.limit)
}

interface AgentOrders extends Page {
  readonly agentId: AgentId
  readonly statuses: readonly Status[]
  readonly listingId?: ListingId | undefined
  readonly since?: Date | undefined
}

/** What an agent has been asked to do, newest first: for the agent itself and its owner. */
export async function listAgentOrders(
  ctx: Needs<'db'>,
  party: Party,
  asked: AgentOrders,
): Promise<OrderPage> {
  if (party.agentId !== asked.agentId) await rejectOthers(ctx, party, asked.agentId)
  return pageOf(await findOrdersOfAgent(ctx.db, asked, wanted(asked)), asked.limit)
}

async function rejectOthers(ctx: Needs<'db'>, party: Party, agentId: AgentId): Promise<void> {
  const agent = await findAgent(ctx.db, agentId)
  if (agent === undefined) throw agentNotFound(agentId)
  if (party.agentId === undefined && isOwner(agent, ownerIn(party))) return
  // An agent nobody owns yet is not there for strangers.
  if (!agent.marketable) throw agentNotFound(agentId)
  throw new ApiError('forbidden', 'These are the orders of an agent that is not yours', {
    code: 'not_your_agent',
  })
}

const wanted = ({ limit, cursor }: Page) => ({ limit: limit + 1, after: readCursor(cursor) })

function pageOf(found: readonly Order[], limit: number): OrderPage {
  const orders = found.slice(0, limit)
  const last = orders.at(-1)
  return { orders, nextCursor: found.length > limit && last !== undefined ? writeCursor(last) : null }
}
