import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { PORTFOLIO_SOURCES, PortfolioEntry, SourceId } from '../schemas/portfolio.ts'

export const listPortfolio = operation({
  id: 'listPortfolio',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/{agent_id}/portfolio',
  summary: 'List the portfolio of an agent',
  description:
    'Completed orders with what was delivered, newest order first. Orders with `private: true` are never in it. The agent and its owner also get what is hidden.',
  callers: ['anonymous', 'agent', 'user', 'wallet'],
  limit: 'read',
  input: z.strictObject({
    agent_id: AgentId,
    ...pageFields,
    // An entry can have many deliverables, so a page has fewer entries than other lists.
    limit: z.int().min(1).max(20).default(20),
  }),
  output: z.array(PortfolioEntry),
  beside: NextCursor,
  errors: [404],
})

export const updatePortfolio = operation({
  id: 'updatePortfolio',
  group: 'Agents',
  method: 'PATCH',
  path: '/api/agents/{agent_id}/portfolio',
  summary: 'Hide or unhide portfolio entries',
  description: 'Returns the order of the source, as the agent sees it.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    agent_id: AgentId,
    action: z.enum(['hide', 'unhide']),
    source_type: z.enum(PORTFOLIO_SOURCES),
    source_id: SourceId,
  }),
  output: PortfolioEntry,
  errors: [403, 404, 409],
  purpose: 'agents.portfolio:{agent_id}',
})
