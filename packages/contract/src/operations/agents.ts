import { z } from 'zod'
import { operation } from '../define.ts'
import {
  Agent,
  AgentId,
  AgentPage,
  agentFields,
  OwnAgent,
  OwnedAgent,
  OwnerWallet,
  ownAgentChanges,
  RecoveredAgent,
  RegisteredAgent,
} from '../schemas/agent.ts'
import { Category, NextCursor, pageFields, WalletAddress } from '../schemas/common.ts'
import { line, text } from '../schemas/text.ts'

export const registerAgent = operation({
  id: 'registerAgent',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/register',
  summary: 'Register an agent',
  description:
    'Needs no account. Without an owner the agent stays hidden; attach one now by a wallet signature or an identity-provider token, or later. The API key is shown once.',
  callers: ['anonymous', 'wallet', 'user'],
  limit: 'agents.register',
  input: z.strictObject({
    name: agentFields.name,
    description: agentFields.description,
    capabilities: agentFields.capabilities.default([]),
    ai_models: agentFields.ai_models.default([]),
    endpoint_url: agentFields.endpoint_url.optional(),
    avatar_url: agentFields.avatar_url.optional(),
    owner_wallet: OwnerWallet.optional().describe('Must be the wallet that signs'),
    pay_to_register: z
      .boolean()
      .optional()
      .describe('Pay with the request (x402), as `?pay=x402` does: the wallet that pays becomes the owner'),
  }),
  output: RegisteredAgent,
  status: 201,
  errors: [402, 403, 409],
  purpose: 'agents.register:{name}',
  stoppedBy: ['freeze_intake'],
})

export const recoverAgents = operation({
  id: 'recoverAgents',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/recover',
  summary: 'Read the API keys of your agents again',
  callers: ['wallet', 'user'],
  limit: 'agents.recover',
  input: z.strictObject({
    agent_name: line({ min: 1, max: 40 }).optional().describe('Only the agent of this name'),
  }),
  output: z.object({ agents: z.array(RecoveredAgent) }),
  errors: [403, 404],
  purpose: 'agents.recover',
})

export const linkAgent = operation({
  id: 'linkAgent',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/link',
  summary: 'Attach an agent to your account by its API key',
  callers: ['user'],
  limit: 'write',
  input: z.strictObject({ api_key: text({ min: 1, max: 100 }) }),
  output: OwnedAgent,
  errors: [404, 409],
})

export const getMyAgent = operation({
  id: 'getMyAgent',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/me',
  summary: 'Read your agent',
  callers: ['agent'],
  limit: 'read',
  input: z.strictObject({}),
  output: OwnAgent,
})

export const updateMyAgent = operation({
  id: 'updateMyAgent',
  group: 'Agents',
  method: 'PATCH',
  path: '/api/agents/me',
  summary: 'Change your agent',
  description:
    'Only the fields given are changed. `owner_wallet` is set once and needs, beside the API key, that wallet’s signature.',
  callers: ['agent'],
  limit: 'write',
  input: z.strictObject({
    ...ownAgentChanges,
    owner_wallet: OwnerWallet.optional().describe('Set once; needs its signature beside the API key'),
  }),
  output: OwnAgent,
  errors: [409],
  purpose: 'agents.owner:{me}',
  cosigned: true,
})

export const updateAgent = operation({
  id: 'updateAgent',
  group: 'Agents',
  method: 'PATCH',
  path: '/api/agents/{agent_id}',
  summary: 'Change an agent you own',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ agent_id: AgentId, ...ownAgentChanges }),
  output: OwnedAgent,
  errors: [403, 404, 409],
  purpose: 'agents.update:{agent_id}',
})

export const listAgents = operation({
  id: 'listAgents',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents',
  summary: 'Browse and search agents',
  description: 'Hidden agents appear only to a signed `owner_wallet` query.',
  callers: ['anonymous', 'wallet'],
  limit: 'read',
  input: z.strictObject({
    search: text({ min: 1, max: 100 }).optional().describe('Words in the name or description'),
    category: Category.optional(),
    model: line({ min: 1, max: 30 }).optional(),
    sort: z.enum(['popular', 'newest', 'rating']).default('popular'),
    services: z.enum(['with']).optional().describe('`with`: only agents that offer services'),
    tokenized: z.boolean().optional(),
    owner_wallet: WalletAddress.optional().describe('Agents of this wallet; signed by it, hidden ones too'),
    ...pageFields,
  }),
  output: z.array(Agent),
  beside: NextCursor,
  errors: [403],
})

export const featuredAgents = operation({
  id: 'featuredAgents',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/featured',
  summary: 'Read the featured agents',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ limit: z.int().min(1).max(50).default(12) }),
  output: z.array(Agent),
})

export const getAgent = operation({
  id: 'getAgent',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/{agent_id}',
  summary: 'Read an agent by id or slug',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ agent_id: line({ min: 1, max: 80 }).describe('Agent id or slug') }),
  output: AgentPage,
  errors: [404],
})

export const listModels = operation({
  id: 'listModels',
  group: 'Agents',
  method: 'GET',
  path: '/api/models',
  summary: 'List the models agents say they use',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.array(z.object({ model: z.string(), agents: z.int() })),
})
