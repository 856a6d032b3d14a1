import { z } from 'zod'
import { named, operation, READ_BY_OPERATORS } from '../define.ts'
import { Instant } from '../schemas/common.ts'
import { HoldCode } from '../schemas/hold-code.ts'
import { NetworkName, UsdText } from '../schemas/money.ts'
import { Switch } from '../schemas/switch.ts'

const Act = z.object({ operation: z.string(), method: z.string(), path: z.string() })

const acts = z.array(Act).describe('The operations that show or resolve what waits here')

const counted = {
  count: z.int(),
  at_least: z
    .boolean()
    .describe('True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more'),
}

const oldest_at = Instant.describe('Since when the oldest of them waits')
const amount_usd = UsdText.describe('Sum of those that are counted')

const ofNetwork = { network: NetworkName, count: z.int(), amount_usd, oldest_at }

const BLOCKS = [
  'disputes',
  'contests',
  'held_payouts',
  'failed_payouts',
  'unmatched_transfers',
  'dropped_webhooks',
  'gas',
  'reserves',
  'jobs',
  'statistics',
  'approvals',
  'switches',
] as const

const Overview = named(
  'Overview',
  z.object({
    at: Instant,
    waiting: z
      .array(z.enum(BLOCKS))
      .describe('The blocks in which something waits for an operator. Empty when there is nothing to do'),
    disputes: z.object({
      ...counted,
      networks: z
        .array(z.object({ ...ofNetwork, amount_usd: UsdText.describe('Sum of the prices') }))
        .describe('`oldest_at`: the last change of the order that is unchanged for longest'),
      order_ids: z.array(z.string()).describe('The orders that are unchanged for longest, at most 20'),
      acts,
    }),
    contests: z.object({
      ...counted,
      for_arbiter: z.int().describe('Those that do not end without an arbiter'),
      oldest_at: oldest_at.nullable().describe('Since when the oldest of `for_arbiter` waits'),
      acts,
    }),
    held_payouts: z.object({
      ...counted,
      groups: z.array(
        z.object({
          ...ofNetwork,
          hold_code: HoldCode,
          needs_operator: z
            .boolean()
            .describe('False when the hold ends by time, by the payer or by the payee'),
        }),
      ),
      acts,
    }),
    failed_payouts: z.object({
      ...counted,
      groups: z.array(z.object({ ...ofNetwork, hold_code: HoldCode.nullable() })),
      acts,
    }),
    unmatched_transfers: z.object({
      ...counted,
      groups: z.array(z.object({ ...ofNetwork, kind: z.enum(['suspense', 'surplus']) })),
      acts,
    }),
    dropped_webhooks: z.object({
      ...counted,
      agents: z.int().describe('To how many agents they were addressed'),
      most: z
        .array(z.object({ agent_id: z.string(), count: z.int() }))
        .describe('The agents with the most of them, at most 10'),
      acts,
    }),
    gas: z.object({
      networks: z.array(
        z.object({
          network: NetworkName,
          balance: z
            .string()
            .nullable()
            .describe(
              'Of the gas account, in wei or lamports; null when the nodes did not respond in 3 seconds',
            ),
          settlements_left: z.int().nullable().describe('How many more payments it can submit'),
          few_below: z.int().describe('With fewer settlements left, add native coin'),
        }),
      ),
      acts,
    }),
    reserves: z.object({
      networks: z.array(
        z.object({
          network: NetworkName,
          checked_at: Instant.nullable().describe('The newest snapshot; null before the first'),
          age_seconds: z.int().nullable(),
          shortfall_usd: UsdText.nullable().describe('The amount that is certainly missing'),
          solvent: z.boolean().nullable(),
        }),
      ),
      acts,
    }),
    jobs: z.object({
      ...counted,
      oldest_seconds: z.int().describe('Age of the oldest job that is due and not started'),
      failing: z.int().describe('Jobs that failed and are retried'),
      acts,
    }),
    statistics: z.object({
      ...counted,
      oldest_seconds: z.int().describe('Age of the oldest change that is in no total yet'),
      acts,
    }),
    approvals: z.object({
      ...counted,
      oldest_at: oldest_at.nullable(),
      next_expiry_at: Instant.nullable().describe('When the first of them expires'),
      acts,
    }),
    switches: z.object({ on: z.array(Switch), acts }),
  }),
)

export const getOverview = operation({
  id: 'getOverview',
  ...READ_BY_OPERATORS,
  position: 10,
  method: 'GET',
  path: '/api/admin/overview',
  summary: 'Get what waits for an operator',
  description:
    'Everything that waits, with counts, sums and ages, and the operations that resolve it. It contains nothing that buyers or agents wrote.',
  input: z.strictObject({}),
  output: Overview,
})
