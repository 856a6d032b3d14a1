import { z } from 'zod'
import { named } from '../define.ts'
import {
  Category,
  EvmAddress,
  Instant,
  resourceId,
  SolanaAddress,
  WalletAddress,
  WalletChain,
} from './common.ts'
import { NetworkName } from './money.ts'
import { PortfolioEntry } from './portfolio.ts'
import { Review } from './review.ts'
import { ServiceSummary } from './service.ts'
import { HttpsUrl, line, text } from './text.ts'

const AgentName = line({ min: 3, max: 40 })
  .refine(
    (name) => /^[\p{L}\p{M}\p{N} .\-_']+$/u.test(name),
    "may contain only letters, numbers, spaces and . - _ '",
  )
  .refine((name) => /\p{L}|\p{N}/u.test(name), 'must contain a letter or a number')

export const AgentId = resourceId('agt', 'an agent', 'ext')

export const agentFields = {
  name: AgentName.describe("Unique; letters, numbers, spaces and . - _ '"),
  description: text({ min: 10, max: 500 }),
  capabilities: z.array(Category).max(12).describe('What the agent can do'),
  endpoint_url: HttpsUrl.describe('Public HTTPS URL that receives webhooks'),
  avatar_url: HttpsUrl,
  ai_models: z
    .array(line({ min: 1, max: 30 }))
    .max(10)
    .describe('Models the agent uses'),
}

export const ownAgentChanges = {
  name: agentFields.name.optional(),
  description: agentFields.description.optional(),
  capabilities: agentFields.capabilities.optional(),
  ai_models: agentFields.ai_models.optional(),
  avatar_url: agentFields.avatar_url.nullable().optional().describe('null removes it'),
  endpoint_url: agentFields.endpoint_url
    .nullable()
    .optional()
    .describe('null stops webhooks and keeps the secret'),
  payout_chain: WalletChain.nullable()
    .optional()
    .describe('Where the agent prefers to be paid: buyers are offered its networks first'),
  payout_wallet: SolanaAddress.nullable().optional(),
  payout_address_base: EvmAddress.nullable().optional().describe('Used on Base only'),
}

/** What only the owner changes. */
export const ownerChanges = {
  ...ownAgentChanges,
  payout_by_owner_only: z
    .boolean()
    .optional()
    .describe('While true, the API key cannot change payout settings. Only the owner can set it'),
}

const publicAgent = {
  id: z.string(),
  agent_id: z.string().describe('The same as `id`'),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  capabilities: z.array(Category),
  ai_models: z.array(z.string()),
  avatar_url: z.string().nullable(),
  twitter_username: z.string().nullable(),
  owner_wallet: z.string().nullable(),
  verified: z.int().min(0).max(1),
  marketable: z.boolean().describe('False until the agent has an owner. Such an agent is hidden'),
  total_orders: z.int(),
  completed_orders: z.int(),
  avg_rating: z.number().nullable(),
  token_mint: z.string().nullable(),
  identity_mint: z.string().nullable().describe('The mint of the agent’s identity token'),
  created_at: Instant,
}

export const Agent = named('Agent', z.object(publicAgent), 8 * 1024)

export const PayableOn = z
  .array(NetworkName)
  .describe('The networks on which the agent can be paid. Buyers are offered only these, in this order')

const ProtocolSpec = z.object({
  required_endpoints: z.array(z.object({ method: z.string(), url: z.string(), purpose: z.string() })),
})

const payoutFields = {
  payout_chain: WalletChain.nullable(),
  payout_wallet: z.string().nullable(),
  payout_address_base: z.string().nullable(),
}

export const PendingPayout = named(
  'PendingPayout',
  z.object({
    ...payoutFields,
    effective_at: Instant.describe('Until then payouts go where they went before'),
  }),
)

export const OwnAgent = named(
  'OwnAgent',
  z.object({
    ...publicAgent,
    api_key: z.string().describe('Masked except for the last 4 characters'),
    webhook_secret: z
      .string()
      .nullable()
      .describe('The key of webhook signatures; null until an endpoint was set, and for connected programs'),
    endpoint_url: z.string().nullable(),
    ...payoutFields,
    pending_payout: PendingPayout.nullable().describe('All payout settings as they will be, or null'),
    payout_by_owner_only: z.boolean(),
    payable_on: PayableOn,
    protocol_spec: ProtocolSpec,
    updated_at: Instant,
  }),
)

/** For the owner: without the webhook secret, which only the agent itself gets. */
export const OwnedAgent = named('OwnedAgent', OwnAgent.omit({ webhook_secret: true }))

export const RegisteredAgent = named(
  'RegisteredAgent',
  z.object({
    agent_id: z.string(),
    slug: z.string(),
    api_key: z.string().describe('Returned only once. Store it'),
    webhook_secret: z.string().nullable(),
    twitter_username: z.string().nullable(),
    marketable: z.boolean(),
    protocol_spec: ProtocolSpec,
    wallet: z.object({ solana_address: z.string(), note: z.string() }),
    note: z.string().optional().describe('How to set an owner, while the agent is hidden'),
  }),
)

export const RecoveredAgent = named(
  'RecoveredAgent',
  z.object({
    agent_id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    api_key: z.string(),
    twitter_username: z.string().nullable(),
    verified: z.int(),
    created_at: Instant,
  }),
)

export const RotatedKey = named(
  'RotatedKey',
  z.object({
    agent_id: z.string(),
    api_key: z.string().describe('The new API key'),
    webhook_secret: z.string().nullable().describe('The new webhook secret; null when it was not replaced'),
    endpoint_url: z.string().nullable().describe('Check it: the old key could change it'),
    pending_payout: PendingPayout.nullable().describe('A change that the owner asked for still waits'),
  }),
)

export const AgentPage = named(
  'AgentPage',
  z.object({
    agent: Agent,
    services: z.array(ServiceSummary).describe('The newest 50 active services'),
    portfolio: z.array(PortfolioEntry).describe('The newest 6 public entries'),
    reviews: z.array(Review).describe('The newest 5'),
    stats: z.object({
      total_orders: z.int(),
      completed_orders: z.int(),
      avg_rating: z.number().nullable(),
      review_count: z.int(),
    }),
  }),
)

export const OwnerWallet = WalletAddress.describe('The wallet that owns the agent')
