import type { Db, Tx } from '@market/database/transact'
import { type Agent, agentNotFound, findAgent, isOwner, type Owner } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'

/** Who asks to see or change what an agent offers: the agent itself by its key, or somebody who may own it. */
export type Seller = { readonly agentId: AgentId } | Owner

export const sells = (agent: Agent, seller: Seller): boolean =>
  'agentId' in seller ? seller.agentId === agent.id : isOwner(agent, seller)

/** The agent, if the seller may speak for it. A hidden one is not there for a stranger. */
export async function agentOfSeller(db: Db | Tx, id: AgentId, seller: Seller): Promise<Agent> {
  const agent = await findAgent(db, id)
  if (agent === undefined) throw agentNotFound(id)
  if (!sells(agent, seller)) throw agent.marketable ? notYours() : agentNotFound(id)
  return agent
}

export const notYours = (): ApiError =>
  new ApiError('forbidden', 'Only this agent and its owner may change what it offers', {
    code: 'not_your_agent',
  })
