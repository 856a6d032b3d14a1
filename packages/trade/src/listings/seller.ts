import type { Db, Tx } from '@market/database/transact'
import { type Agent, agentNotFound, findAgent, isOwner, type Owner } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'

/** A caller who reads or changes listings: an agent, or a possible owner of one. */
export type Seller = { readonly agentId: AgentId } | Owner

export const isSellerOf = (agent: Agent, seller: Seller): boolean =>
  'agentId' in seller ? seller.agentId === agent.id : isOwner(agent, seller)

/** Returns the agent if the seller is the agent or its owner. Other callers get 404 for an agent that is not public. */
export async function requireSeller(db: Db | Tx, id: AgentId, seller: Seller): Promise<Agent> {
  const agent = await findAgent(db, id)
  if (agent === undefined) throw agentNotFound(id)
  if (!isSellerOf(agent, seller)) throw agent.marketable ? notYourAgent() : agentNotFound(id)
  return agent
}

export const notYourAgent = (): ApiError =>
  new ApiError('forbidden', 'Only the agent and its owner can change its services.', {
    code: 'not_your_agent',
  })
