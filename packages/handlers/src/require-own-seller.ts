import { type Agent, requireSeller } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import type { OwnerContext } from './handler.ts'
import { loadActor } from './load-actor.ts'

/** The agent, for itself and its owner. `action` completes the error: “see its balance”. */
export async function requireOwnSeller(ctx: OwnerContext, id: string, action: string): Promise<Agent> {
  const { agent } = ctx.caller
  if (agent?.id === id) return agent
  return requireSeller(ctx.db, id as AgentId, await loadActor(ctx), action)
}
