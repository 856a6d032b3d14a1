import type { Db, Tx } from '@market/database/transact'
import { findAgentById, isOwner, type Owner } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import type { Buyer, Order } from './order.ts'
import type { Role } from './states.ts'
import { orderNotFound } from './store.ts'

/** A caller as a party to orders, with every identity that this request has proven. */
export interface Party {
  /** The name stored as the buyer of new orders and as the actor of steps. */
  readonly name: Buyer
  readonly userId?: string | undefined
  readonly agentId?: AgentId | undefined
  /** Keys of wallets that signed this request or are linked to the account. */
  readonly wallets: readonly string[]
}

/** The identities by which the party owns agents. */
export const ownerIn = ({ userId, wallets }: Party): Owner => ({
  ...(userId !== undefined && { userId }),
  wallets,
})

/** The names under which orders of this buyer can be stored. */
export const buyerNames = ({ name, wallets }: Party): Buyer[] => [
  ...new Set<Buyer>([name, ...wallets.map((key): Buyer => `wallet:${key}`)]),
]

/**
 * The party's role in the order. Other callers get 404, so that they cannot find out which orders exist. An agent has
 * no role in the orders of its owner's other agents.
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
    throw orderNotFound(order.id)
  }
  const agent = await findAgentById(db, order.agentId)
  if (isOwner(agent, ownerIn(party))) return 'owner'
  throw orderNotFound(order.id)
}
