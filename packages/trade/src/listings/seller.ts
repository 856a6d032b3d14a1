import type { Actor } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { type Agent, actsFor, agentNotFound, findAgent } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'

/** Returns the agent if the caller is the agent or its owner. */
export async function requireSeller(db: Db | Tx, id: AgentId, actor: Actor): Promise<Agent> {
  const agent = await findAgent(db, id)
  if (agent === undefined) throw agentNotFound(id)
  if (!actsFor(agent, actor)) throw notYourAgent()
  return agent
}

export const notYourAgent = (): ApiError =>
  new ApiError('forbidden', 'Only the agent and its owner can change its services.', {
    code: 'not_your_agent',
  })
