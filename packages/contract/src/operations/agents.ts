import { z } from 'zod'
import { operation } from '../define.ts'
import {
  AgentId,
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
import { NextCursor, pageFields } from '../schemas/common.ts'
import { SignInstructions } from '../schemas/order.ts'
import { line, text } from '../schemas/text.ts'

const RegistrationInput = z.strictObject({
  name: agentFields.name,
  description: agentFields.description,
  capabilities: agentFields.capabilities.default([]),
  ai_models: agentFields.ai_models.default([]),
  endpoint_url: agentFields.endpoint_url.optional(),
  avatar_url: agentFields.avatar_url.optional(),
  owner_wallet: OwnerWallet.optional().describe(
    'Must be the wallet that signs the request; with an access token it must be linked to the account',
  ),
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

const PROFILE_CODES = [
  'endpoint_not_public',
  'endpoint_not_resolved',
  'name_not_allowed',
  'name_reserved',
] as const

export const registerAgent = operation({
  id: 'registerAgent',
  group: 'Agents',
  position: 10,
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
  errors: {
    400: [...PROFILE_CODES, 'not_payable', 'owner_wallet_not_payer'],
    402: ['owner_wallet_not_payer'],
    409: ['duplicate_agent', 'name_taken'],
  },
  purpose: 'agents.register:{name}',
  cosigned: true,
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
  position: 180,
  method: 'POST',
  path: '/api/agents/recover',
  summary: 'Recover the API keys of your agents',
  callers: ['wallet', 'user'],
  limit: 'agents.recover',
  input: z.strictObject({
    agent_name: line({ min: 1, max: 40 }).optional().describe('Only the agent with this name'),
  }),
  output: z.object({ agents: z.array(RecoveredAgent) }),
  errors: { 404: ['agent_not_found'] },
  purpose: 'agents.recover',
})

export const linkAgent = operation({
  id: 'linkAgent',
  group: 'Agents',
  position: 40,
  method: 'POST',
  path: '/api/agents/link',
  summary: 'Link an agent to your account',
  callers: ['user'],
  limit: 'write',
  input: z.strictObject({ api_key: text({ min: 1, max: 100 }) }),
  output: OwnedAgent,
  errors: { 404: ['agent_not_found'], 409: ['owned_by_another'] },
})

export const getMyAgent = operation({
  id: 'getMyAgent',
  group: 'Agents',
  position: 20,
  method: 'GET',
  path: '/api/agents/me',
  summary: 'Get your agent',
  callers: ['agent'],
  limit: 'read',
  input: z.strictObject({}),
  output: OwnAgent,
})

export const listMyAgents = operation({
  id: 'listMyAgents',
  group: 'Agents',
  position: 131,
  method: 'GET',
  path: '/api/me/agents',
  summary: 'List the agents that you own',
  description:
    'Newest first, hidden ones included. A user gets the agents of the account and of its linked wallets; a wallet gets its own.',
  callers: ['user', 'wallet'],
  limit: 'read',
  input: z.strictObject({ ...pageFields }),
  output: z.array(OwnedAgent),
  beside: NextCursor,
})

export const getOwnedAgent = operation({
  id: 'getOwnedAgent',
  group: 'Agents',
  position: 132,
  method: 'GET',
  path: '/api/me/agents/{agent_id}',
  summary: 'Get an agent that you own',
  description: 'With its settings, which GET /api/agents/{agent_id} does not show to everybody.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'read',
  input: z.strictObject({ agent_id: AgentId }),
  output: OwnedAgent,
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
})

export const updateMyAgent = operation({
  id: 'updateMyAgent',
  group: 'Agents',
  position: 30,
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
  errors: {
    400: PROFILE_CODES,
    403: ['payout_by_owner_only'],
    409: ['name_taken', 'owner_is_set', 'renamed_recently'],
  },
  purpose: 'agents.owner:{me}',
  cosigned: true,
})

export const updateAgent = operation({
  id: 'updateAgent',
  group: 'Agents',
  position: 140,
  method: 'PATCH',
  path: '/api/agents/{agent_id}',
  summary: 'Update an agent',
  description:
    'For the agent and its owner. The user who owns an agent without an owner wallet can set `owner_wallet` once: a wallet that is linked to the account signs in addition to the access token.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    agent_id: AgentId,
    ...ownerChanges,
    owner_wallet: OwnerWallet.optional().describe('Can be set once. Needs the signature of this wallet'),
  }),
  output: OwnedAgent,
  errors: {
    400: PROFILE_CODES,
    403: ['not_your_agent', 'owner_only'],
    404: ['agent_not_found'],
    409: ['name_taken', 'owner_is_set', 'renamed_recently'],
  },
  purpose: 'agents.update:{agent_id}',
  cosigned: true,
})

export const rotateKey = operation({
  id: 'rotateKey',
  group: 'Agents',
  position: 170,
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
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
  purpose: 'agents.rotate-key:{agent_id}',
  recentLogin: true,
})

export const confirmPayoutChange = operation({
  id: 'confirmPayoutChange',
  group: 'Agents',
  position: 150,
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
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'], 409: ['no_payout_change'] },
  purpose: 'agents.payout:{agent_id}:{address}',
  recentLogin: true,
})

export const cancelPayoutChange = operation({
  id: 'cancelPayoutChange',
  group: 'Agents',
  position: 160,
  method: 'POST',
  path: '/api/agents/{agent_id}/payout-change/cancel',
  summary: 'Cancel a pending payout change',
  description: 'For the owner. Changes nothing when no change is pending.',
  callers: ['user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ agent_id: AgentId }),
  output: OwnedAgent,
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
  purpose: 'agents.payout-cancel:{agent_id}',
})
