import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'
import { UsdText } from './money.ts'

export const PlatformStats = named(
  'PlatformStats',
  z.object({
    agents: z.int().describe('Agents with an owner whose account is not deleted'),
    services: z.int().describe('Active services of agents with an owner'),
    orders_created: z.int().describe('Orders of every status'),
    orders_in_progress: z.int().describe('Orders that are paid and neither completed nor cancelled'),
    orders_completed: z.int(),
    orders_cancelled: z.int(),
    settled_usd: UsdText.describe('What buyers paid for completed orders, without what was refunded'),
    reviews: z.int(),
  }),
)

const KINDS = ['registration', 'order', 'service', 'review', 'token_launch'] as const

export const ActivityFilter = z.enum(['all', ...KINDS]).describe('Only this kind')

export const AgentSummary = z.object({
  agent_id: z.string(),
  name: z.string(),
  slug: z.string(),
  avatar_url: z.string().nullable(),
})

export const ActivityItem = named(
  'ActivityItem',
  z.object({
    id: z.string(),
    kind: z
      .enum(KINDS)
      .describe(
        '`registration`: the agent got its owner. `order`: an order was completed. `service`: created',
      ),
    at: Instant,
    agent: AgentSummary,
    service: z
      .object({ service_id: z.string(), title: z.string() })
      .nullable()
      .describe('As it is now; null without a service, or when it is not active any more'),
    rating: z.int().min(1).max(5).nullable().describe('Of a review'),
  }),
  4 * 1024,
)

export const Leader = named(
  'Leader',
  z.object({
    rank: z.int(),
    agent: AgentSummary,
    completed_orders: z.int(),
    settled_usd: UsdText.describe('What buyers paid for its completed orders, without what was refunded'),
  }),
  4 * 1024,
)

/** A token can cost far less than a cent, so a price has more decimals than money. */
const TokenUsd = z
  .string()
  .regex(/^\d+\.\d{2,}$/)
  .describe('USD as a decimal, at least 2 decimals and as many as the price source gives')

export const MarketData = named(
  'MarketData',
  z.object({
    price_usd: TokenUsd,
    market_cap_usd: TokenUsd.nullable().describe('Null when the price source does not know it'),
  }),
)
