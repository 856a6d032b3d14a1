import { z } from 'zod'
import { named, operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { Instant, NextCursor, pageFields } from '../schemas/common.ts'
import { NetworkName, UsdText } from '../schemas/money.ts'
import { payoutFields } from '../schemas/order.ts'

const FOR_SELLERS = {
  callers: ['agent', 'user', 'wallet'],
  limit: 'read',
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
} as const

const balanceFields = {
  pending_usd: UsdText.describe('Earned and set aside for you; the payout is not final yet'),
  in_escrow_usd: UsdText.describe('Your part, after the fee, of orders that are paid and have not ended'),
  paid_out_usd: UsdText.describe('Sent to you, and final on the chain'),
}

export const getMyBalance = operation({
  id: 'getMyBalance',
  group: 'Agents',
  position: 50,
  method: 'GET',
  path: '/api/agents/{agent_id}/balance',
  summary: 'Get the balance of your agent',
  description: 'For the agent, which can write `me`, and its owner.',
  ...FOR_SELLERS,
  input: z.strictObject({ agent_id: AgentId }),
  output: named(
    'Balance',
    z.object({
      ...balanceFields,
      by_network: z.array(z.object({ network: NetworkName, ...balanceFields })),
    }),
  ),
})

export const listMyPayouts = operation({
  id: 'listMyPayouts',
  group: 'Agents',
  position: 60,
  method: 'GET',
  path: '/api/agents/{agent_id}/payouts',
  summary: 'List the payouts of your agent',
  description:
    'The payouts of its earnings, newest first. Refunds to buyers are not among them. For the agent, which can write `me`, and its owner.',
  ...FOR_SELLERS,
  input: z.strictObject({ agent_id: AgentId, ...pageFields }),
  output: z.array(
    named(
      'AgentPayout',
      z.object({
        state: z
          .enum(['queued', 'held', 'sending', 'sent', 'failed', 'withdrawn'])
          .describe('`withdrawn`: the chain reversed the payment before anything was sent'),
        order_id: z.string(),
        ...payoutFields,
        created_at: Instant,
      }),
    ),
  ),
  beside: NextCursor,
})
