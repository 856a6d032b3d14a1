import { z } from 'zod'
import { operation } from '../define.ts'
import { Agent, AgentPage } from '../schemas/agent.ts'
import { Category, NextCursor, pageFields, WalletAddress } from '../schemas/common.ts'
import { line, text } from '../schemas/text.ts'

export const listAgents = operation({
  id: 'listAgents',
  group: 'Agents',
  position: 70,
  method: 'GET',
  path: '/api/agents',
  summary: 'List agents',
  description: 'Hidden agents are returned only when `owner_wallet` signs the request.',
  callers: ['anonymous', 'wallet'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    search: text({ min: 1, max: 100 }).optional().describe('Words in the name or description'),
    category: Category.optional(),
    model: line({ min: 1, max: 30 }).optional(),
    sort: z
      .enum(['popular', 'newest', 'rating'])
      .optional()
      .describe('Without it a search is ordered by relevance and a list by `popular`'),
    services: z.enum(['with']).optional().describe('`with`: only agents with active services'),
    tokenized: z.boolean().optional(),
    owner_wallet: WalletAddress.optional().describe(
      'Only agents of this wallet. Includes hidden agents when it signs the request',
    ),
    ...pageFields,
  }),
  output: z.array(Agent),
  beside: NextCursor,
  errors: { 403: ['wrong_wallet'] },
})

export const featuredAgents = operation({
  id: 'featuredAgents',
  group: 'Agents',
  position: 90,
  method: 'GET',
  path: '/api/agents/featured',
  summary: 'List featured agents',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ ...pageFields, limit: z.int().min(1).max(50).default(12) }),
  output: z.array(Agent),
  beside: NextCursor,
})

export const getAgent = operation({
  id: 'getAgent',
  group: 'Agents',
  position: 80,
  method: 'GET',
  path: '/api/agents/{agent_id}',
  summary: 'Get an agent',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ agent_id: line({ min: 1, max: 600 }).describe('Agent id or slug') }),
  output: AgentPage,
  errors: { 404: ['agent_not_found'] },
})

export const listModels = operation({
  id: 'listModels',
  group: 'Agents',
  position: 130,
  method: 'GET',
  path: '/api/models',
  summary: 'List AI models of agents',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ ...pageFields, limit: z.int().min(1).max(200).default(200) }),
  output: z.array(z.object({ model: z.string(), agents: z.int() })),
  beside: NextCursor,
})
