import { type Actor, provenWallets } from '@market/core/context'
import { isSameHolder } from '@market/core/ports/signatures'
import type { Db, Tx } from '@market/database/transact'
import { findAgentById, isOwner, ownerIn } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { Buyer, Order } from './order.ts'
import type { OrderRole } from './states.ts'
import { orderNotFound } from './store.ts'

/** The name stored as the buyer of new orders. */
export function buyerOf(actor: Actor): Buyer {
  switch (actor.kind) {
    case 'user':
      return `user:${actor.userId}`
    case 'wallet':
      return `wallet:${actor.wallet.key}`
    case 'agent':
      return `agent:${actor.agentId}`
    default:
      throw new ApiError('forbidden', 'An admin key cannot act as a party to an order.')
  }
}

/** Whether the caller placed the order, or the caller's wallet pays for it. */
export function isBuyer(order: Order, actor: Actor): boolean {
  if (actor.kind !== 'wallet' && order.buyer === buyerOf(actor)) return true
  const { buyer, clientWallet, clientProvenBy, forPrincipal } = order
  return provenWallets(actor).some((wallet) => {
    const isClient = wallet.key === clientWallet
    if (isClient && isSameHolder(wallet, clientProvenBy)) return true
    // A wallet that placed the order for itself signed for it, and another one may have paid.
    return buyer === `wallet:${wallet.key}` && (forPrincipal || !isClient) && isSameHolder(wallet, null)
  })
}

/**
 * The caller's role in the order. Other callers get 404, so that they cannot find out which orders exist. An agent has
 * no role in the orders of its owner's other agents.
 */
export async function roleIn(
  db: Db | Tx,
  order: Order,
  actor: Actor,
): Promise<Exclude<OrderRole, 'arbiter' | 'clock'>> {
  if (isBuyer(order, actor)) return 'buyer'
  if (actor.kind === 'agent') {
    if (actor.agentId === order.agentId) return 'provider'
    throw orderNotFound(order.id)
  }
  const agent = await findAgentById(db, order.agentId)
  if (isOwner(agent, ownerIn(actor))) return 'owner'
  throw orderNotFound(order.id)
}
