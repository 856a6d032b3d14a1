import type { Needs } from '@market/core/context'
import type { Agent } from './agent.ts'
import { AGENT_COLUMNS, agentOf } from './store.ts'

/** In the order operators gave them; filled up with the most popular when too few were chosen. */
export async function featuredAgents(ctx: Needs<'db'>, limit: number): Promise<Agent[]> {
  const chosen = await ctx.db
    .selectFrom('agents')
    .select(AGENT_COLUMNS)
    .where('marketable', '=', true)
    .where('featured_rank', 'is not', null)
    .orderBy('featured_rank')
    .orderBy('id')
    .limit(limit)
    .execute()
  const missing = limit - chosen.length
  if (missing === 0) return chosen.map(agentOf)
  const popular = await ctx.db
    .selectFrom('agents')
    .select(AGENT_COLUMNS)
    .where('marketable', '=', true)
    .where('featured_rank', 'is', null)
    .orderBy('completed_orders', 'desc')
    .orderBy('id', 'desc')
    .limit(missing)
    .execute()
  return [...chosen, ...popular].map(agentOf)
}
