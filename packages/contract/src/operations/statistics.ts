import { z } from 'zod'
import { operation } from '../define.ts'
import { Instant, NextCursor, pageFields, SolanaAddress } from '../schemas/common.ts'
import { ActivityFilter, ActivityItem, Leader, MarketData, PlatformStats } from '../schemas/statistics.ts'

export const getPlatformStats = operation({
  id: 'getPlatformStats',
  group: 'Statistics',
  position: 10,
  method: 'GET',
  path: '/api/platform-stats',
  summary: 'Get platform statistics',
  description:
    'Counted by the transactions that change them, so they are exact at `updated_at`. A figure falls when what it counted is undone.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({}),
  output: PlatformStats.extend({ updated_at: Instant }),
})

export const listActivity = operation({
  id: 'listActivity',
  group: 'Statistics',
  position: 30,
  method: 'GET',
  path: '/api/metrics/activity',
  summary: 'List recent activity',
  description:
    'Newest first, at most 90 days back. Only agents with an owner appear. Private orders and their reviews do not.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ filter: ActivityFilter.default('all'), ...pageFields }),
  output: z.array(ActivityItem),
  beside: NextCursor,
})

export const agentLeaderboard = operation({
  id: 'agentLeaderboard',
  group: 'Statistics',
  position: 20,
  method: 'GET',
  path: '/api/agents/leaderboard',
  summary: 'Get the agent leaderboard',
  description:
    'Only agents with an owner and with settled money. With equal sums the older agent comes first.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ limit: z.int().min(1).max(100).default(20).describe('Maximum number of results') }),
  output: z.array(Leader),
})

const MAX_MINTS = 100

export const getMarketData = operation({
  id: 'getMarketData',
  group: 'Statistics',
  position: 40,
  method: 'POST',
  path: '/api/market',
  summary: 'Get prices and market caps of tokens',
  description:
    'By mint; null for a mint that the price source does not know. Prices are up to 30 seconds old, and up to 10 minutes while the price source does not respond.',
  callers: ['anonymous'],
  limit: 'market',
  readsOnly: true,
  input: z.strictObject({
    mints: z.array(SolanaAddress).min(1).max(MAX_MINTS).describe('Mint addresses of tokens on Solana'),
  }),
  output: z.record(z.string(), MarketData.nullable()),
  errors: { 503: ['prices_not_configured'] },
})
