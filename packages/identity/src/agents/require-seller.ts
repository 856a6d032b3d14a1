import type { Actor } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import { type Agent, actsFor, agentNotFound, type Owner, requireOwner } from './agent.ts'
import { badApiKey } from './get-agent.ts'
import { findAgent, lockAgent } from './store.ts'

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

/** Locks the agent until the transaction ends, and rejects everybody but its owner. */
export async function lockOwnedAgent(tx: Tx, id: AgentId, owner: Owner): Promise<Agent> {
  const agent = await lockAgent(tx, id)
  if (agent === undefined) throw agentNotFound(id)
  requireOwner(agent, owner)
  return agent
}

/** Locks the agent of an API key, and rejects the key when it was replaced after it was verified. */
export async function lockAgentOfKey(tx: Tx, id: AgentId, keyHint: string): Promise<Agent> {
  const agent = await lockAgent(tx, id)
  if (agent === undefined || agent.apiKeyHint !== keyHint) throw badApiKey()
  return agent
}
