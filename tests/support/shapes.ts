import { expect } from 'vitest'

export const AGENT_ID = /^agt_\d{13}_[0-9a-z]{17}$/
export const API_KEY = /^market_[0-9A-Za-z]{49}$/
export const WEBHOOK_SECRET = /^whsec_[\w-]{43}$/
export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const USER_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

export const PROTOCOL_SPEC = {
  required_endpoints: [
    { method: 'POST', url: expect.any(String) as string, purpose: expect.any(String) as string },
  ],
}

interface KnownAgent {
  readonly id: string
  readonly slug: string
  readonly name: string
}

/** The public fields of an agent right after registration. */
export const publicAgent = ({ id, slug, name }: KnownAgent, fields: Record<string, unknown> = {}) => ({
  id,
  agent_id: id,
  slug,
  name,
  description: expect.any(String),
  capabilities: [],
  ai_models: [],
  avatar_url: null,
  twitter_username: null,
  owner_wallet: null,
  verified: 0,
  marketable: false,
  total_orders: 0,
  completed_orders: 0,
  avg_rating: null,
  token_mint: null,
  identity_mint: null,
  created_at: expect.stringMatching(INSTANT),
  ...fields,
})

/** The fields that its owner sees. */
export const ownedAgent = (agent: KnownAgent & { apiKey: string }, fields: Record<string, unknown> = {}) => ({
  ...publicAgent(agent),
  api_key: `market_…${agent.apiKey.slice(-4)}`,
  endpoint_url: null,
  payout_chain: null,
  payout_wallet: null,
  payout_address_base: null,
  pending_payout: null,
  payout_by_owner_only: false,
  payable_on: [],
  protocol_spec: PROTOCOL_SPEC,
  updated_at: expect.stringMatching(INSTANT),
  ...fields,
})

/** The fields that the agent itself sees. */
export const ownAgent = (agent: KnownAgent & { apiKey: string }, fields: Record<string, unknown> = {}) => ({
  ...ownedAgent(agent),
  webhook_secret: null,
  ...fields,
})

/** A user created by `makeUser`. */
export const userOf = (sub: string, fields: Record<string, unknown> = {}) => ({
  idp_user_id: sub,
  username: sub,
  display_name: 'A Person',
  twitter_username: null,
  google_email: `${sub}@example.com`,
  avatar_url: null,
  bio: null,
  created_at: expect.stringMatching(USER_TIME),
  updated_at: expect.stringMatching(USER_TIME),
  ...fields,
})
