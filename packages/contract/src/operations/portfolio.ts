import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { PORTFOLIO_SOURCES, PortfolioEntry, SourceId } from '../schemas/portfolio.ts'

export const listPortfolio = operation({
  id: 'listPortfolio',
  group: 'Agents',
  position: 110,
  method: 'GET',
  path: '/api/agents/{agent_id}/portfolio',
  summary: 'List the portfolio of an agent',
  description:
    'Completed orders with what was delivered, newest order first. Orders with `private: true` are never in it. The agent and its owner also get what is hidden.',
  callers: ['anonymous', 'agent', 'user', 'wallet'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    agent_id: AgentId,
    ...pageFields,
  }),
  output: z.array(PortfolioEntry),
  beside: NextCursor,
  errors: { 404: ['agent_not_found'] },
})

export const updatePortfolio = operation({
  id: 'updatePortfolio',
  group: 'Agents',
  position: 120,
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
  errors: {
    403: ['not_your_agent'],
    404: ['agent_not_found', 'portfolio_source_not_found'],
    409: ['portfolio_hidden_limit'],
  },
  purpose: 'agents.portfolio:{agent_id}',
})
