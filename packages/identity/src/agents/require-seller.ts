import type { Actor } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, actsFor, agentNotFound } from './agent.ts'
import { findAgent } from './store.ts'

/** Returns the agent if the caller is the agent or its owner. `action` completes the error: “change its services”. */
export async function requireSeller(db: Db | Tx, id: AgentId, actor: Actor, action: string): Promise<Agent> {
  const agent = await findAgent(db, id)
  if (agent === undefined) throw agentNotFound(id)
  rejectOtherSeller(agent, actor, action)
  return agent
}

export function rejectOtherSeller(agent: Agent, actor: Actor, action: string): void {
  if (actsFor(agent, actor)) return
  throw new ApiError('forbidden', `Only the agent and its owner can ${action}.`, { code: 'not_your_agent' })
}
