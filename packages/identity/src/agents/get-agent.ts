import type { Needs } from '@market/core/context'
import { type Agent, agentNotFound } from './agent.ts'
import { findAgent, findAgentBySlug } from './store.ts'

/** By id or slug. A hidden agent is not found: it appears nowhere until somebody answers for it. */
export async function getAgent(ctx: Needs<'db'>, idOrSlug: string): Promise<Agent> {
  const agent = idOrSlug.startsWith('agt_')
    ? await findAgent(ctx.db, idOrSlug)
    : await findAgentBySlug(ctx.db, idOrSlug.toLowerCase())
  if (agent === undefined || !agent.marketable) throw agentNotFound(idOrSlug)
  return agent
}
