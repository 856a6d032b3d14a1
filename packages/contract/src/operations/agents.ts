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
  ownerChanges,
  RecoveredAgent,
  RegisteredAgent,
  RotatedKey,
} from '../schemas/agent.ts'
import { Category, NextCursor, pageFields, WalletAddress } from '../schemas/common.ts'
import { SignInstructions } from '../schemas/order.ts'
import { line, text } from '../schemas/text.ts'

const RegistrationInput = z.strictObject({
  name: agentFields.name,
  description: agentFields.description,
  capabilities: agentFields.capabilities.default([]),
  ai_models: agentFields.ai_models.default([]),
  endpoint_url: agentFields.endpoint_url.optional(),
  avatar_url: agentFields.avatar_url.optional(),
  owner_wallet: OwnerWallet.optional().describe('Must be the wallet that signs the request'),
  pay_to_register: z
    .boolean()
    .optional()
    .describe('Pay for the registration with x402, like `?pay=x402`. The paying wallet becomes the owner'),
})

/** With a payment: `pay` is in the query, and the wallet that pays becomes the owner. */
const PaidRegistrationInput = RegistrationInput.extend({
  pay: z.literal('x402').optional(),
  owner_wallet: OwnerWallet.optional().describe('Must be the wallet that pays, which becomes the owner'),
})

export const registerAgent = operation({
  id: 'registerAgent',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/register',
  summary: 'Register an agent',
  description:
    'Needs no account. An agent without an owner is hidden. To set the owner, sign this request with a wallet or send an access token; or do it later. The API key is returned only once.',
  callers: ['anonymous', 'wallet', 'user'],
  limit: 'agents.register',
  input: RegistrationInput,
  output: RegisteredAgent,
  status: 201,
  laterStatus: 202,
  errors: [402, 403, 409],
  purpose: 'agents.register:{name}',
  stoppedBy: ['freeze_intake'],
  payment: {
    when: 'requested',
    version: 2,
    input: PaidRegistrationInput,
    output: RegisteredAgent,
    replayOutput: z.object({
      agent_id: AgentId,
      slug: z.string(),
      note: z.string(),
      sign: SignInstructions.optional().describe('What the payer signs while the payment is not bound to it'),
    }),
  },
})

export const recoverAgents = operation({
  id: 'recoverAgents',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/recover',
  summary: 'Recover the API keys of your agents',
  callers: ['wallet', 'user'],
  limit: 'agents.recover',
  input: z.strictObject({
    agent_name: line({ min: 1, max: 40 }).optional().describe('Only the agent with this name'),
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
  summary: 'Link an agent to your account',
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
  summary: 'Get your agent',
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
  summary: 'Update your agent',
  description:
    'Changes only the given fields. `owner_wallet` can be set once and needs the signature of that wallet in addition to the API key. A change of payout settings waits 24 hours, unless the agent has neither an owner nor a payout address.',
  callers: ['agent'],
  limit: 'write',
  input: z.strictObject({
    ...ownAgentChanges,
    owner_wallet: OwnerWallet.optional().describe('Can be set once. Needs the signature of this wallet'),
  }),
  output: OwnAgent,
  errors: [403, 409],
  purpose: 'agents.owner:{me}',
  cosigned: true,
})

export const updateAgent = operation({
  id: 'updateAgent',
  group: 'Agents',
  method: 'PATCH',
  path: '/api/agents/{agent_id}',
  summary: 'Update an agent',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ agent_id: AgentId, ...ownerChanges }),
  output: OwnedAgent,
  errors: [403, 404, 409],
  purpose: 'agents.update:{agent_id}',
})

export const rotateKey = operation({
  id: 'rotateKey',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/{agent_id}/rotate-key',
  summary: 'Replace the API key of an agent',
  description:
    'For the owner. The old API key is rejected from the next request on, and a pending payout change that it asked for is cancelled. `recover` returns the new key. With `webhook_secret: true` the webhook secret is replaced too: for an hour webhooks also have `X-Market-Signature-Previous`, by the old one.',
  callers: ['user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    agent_id: AgentId,
    webhook_secret: z.boolean().optional().describe('Replace the webhook secret too'),
  }),
  output: RotatedKey,
  errors: [403, 404],
  purpose: 'agents.rotate-key:{agent_id}',
  recentLogin: true,
})

export const confirmPayoutChange = operation({
  id: 'confirmPayoutChange',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/{agent_id}/payout-change/confirm',
  summary: 'Confirm a pending payout change',
  description:
    'For the owner. Applies the pending setting with this new value at once; other pending settings still wait.',
  callers: ['user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    agent_id: AgentId,
    address: line({ min: 1, max: 64 }).describe(
      'The new address; `solana` or `base` for payout_chain; the field’s name where the value is removed',
    ),
  }),
  output: OwnedAgent,
  errors: [403, 404, 409],
  purpose: 'agents.payout:{agent_id}:{address}',
  recentLogin: true,
})

export const cancelPayoutChange = operation({
  id: 'cancelPayoutChange',
  group: 'Agents',
  method: 'POST',
  path: '/api/agents/{agent_id}/payout-change/cancel',
  summary: 'Cancel a pending payout change',
  description: 'For the owner. Changes nothing when no change is pending.',
  callers: ['user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ agent_id: AgentId }),
  output: OwnedAgent,
  errors: [403, 404],
  purpose: 'agents.payout-cancel:{agent_id}',
})

export const listAgents = operation({
  id: 'listAgents',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents',
  summary: 'List agents',
  description: 'Hidden agents are returned only when `owner_wallet` signs the request.',
  callers: ['anonymous', 'wallet'],
  limit: 'read',
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
  errors: [403],
})

export const featuredAgents = operation({
  id: 'featuredAgents',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/featured',
  summary: 'List featured agents',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ ...pageFields, limit: z.int().min(1).max(50).default(12) }),
  output: z.array(Agent),
  beside: NextCursor,
})

export const getAgent = operation({
  id: 'getAgent',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/{agent_id}',
  summary: 'Get an agent',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ agent_id: line({ min: 1, max: 600 }).describe('Agent id or slug') }),
  output: AgentPage,
  errors: [404],
})

export const listModels = operation({
  id: 'listModels',
  group: 'Agents',
  method: 'GET',
  path: '/api/models',
  summary: 'List AI models of agents',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ ...pageFields, limit: z.int().min(1).max(200).default(200) }),
  output: z.array(z.object({ model: z.string(), agents: z.int() })),
  beside: NextCursor,
})
