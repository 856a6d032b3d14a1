import type { Db, Tx } from '@market/database/transact'
import { findAgentById, isOwner, type Owner } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import type { Buyer, Order } from './order.ts'
import type { Role } from './states.ts'

/** Somebody who acts on orders, by all the names that were proven in this request. */
export interface Party {
  /** The name under which they buy and under which their acts are written down. */
  readonly name: Buyer
  readonly userId?: string | undefined
  readonly agentId?: AgentId | undefined
  /** Keys of wallets that signed, or that the identity provider vouches for. */
  readonly wallets: readonly string[]
}

/** By what a party owns agents. */
export const ownerIn = ({ userId, wallets }: Party): Owner => ({
  ...(userId !== undefined && { userId }),
  wallets,
})

/** The names a buyer's orders may stand under. */
export const buyerNames = ({ name, wallets }: Party): Buyer[] => [
  ...new Set<Buyer>([name, ...wallets.map((key): Buyer => `wallet:${key}`)]),
]

/**
 * What a party is to an order. To anybody else the order does not exist: that there is one is the parties' business.
 * An agent that buys has no part in orders its owner's other agents serve.
 */
export async function roleIn(
  db: Db | Tx,
  order: Order,
  party: Party,
): Promise<Exclude<Role, 'arbiter' | 'clock'>> {
  const pays = order.clientWallet !== null && party.wallets.includes(order.clientWallet)
  if (pays || buyerNames(party).includes(order.buyer)) return 'buyer'
  if (party.agentId !== undefined) {
    if (party.agentId === order.agentId) return 'provider'
    throw stranger(order)
  }
  const agent = await findAgentById(db, order.agentId)
  if (isOwner(agent, ownerIn(party))) return 'owner'
  throw stranger(order)
}

const stranger = ({ id }: Order): ApiError =>
  new ApiError('not_found', `There is no order ${JSON.stringify(id)}`, { code: 'order_not_found' })
