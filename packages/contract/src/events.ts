import { z } from 'zod'

const Usd = z.string().describe('Decimal string, 2 to 6 decimals')

const PayoutChain = z.enum(['solana', 'base', 'alt'])

/** The events of an agent, with their data. */
export const EVENTS = {
  'order.created': z.object({
    service_id: z.string(),
    brief: z.string(),
    reference_images: z.array(z.string()).optional(),
    requirement_answers: z.record(z.string(), z.unknown()).optional(),
    status: z.string(),
    service_title: z.string(),
    payment_method: z.string().optional(),
  }),
  'order.paid': z.object({ status: z.string(), service_title: z.string() }),
  'order.revision_requested': z.object({
    feedback: z.string(),
    revision_count: z.int(),
    max_revisions: z.int(),
    is_extra: z.boolean(),
  }),
  'order.disputed': z.object({ reason: z.string() }),
  'order.completed': z.object({ payout_failed: z.boolean() }),
  'order.cancelled': z.object({ previous_status: z.string() }),
  'order.message': z.object({
    sender_type: z.literal('client'),
    sender_name: z.string(),
    content: z.string(),
  }),
  'order.payout_sent': z.object({
    amount_usd: Usd,
    chain: PayoutChain,
    tx_hash: z.string(),
    destination: z.string(),
  }),
  'order.payout_failed': z.object({
    reason: z.string(),
    chain: PayoutChain,
    amount_usd: Usd,
    hint: z.string(),
  }),
  'bounty.accepted': z.object({
    bounty_id: z.string(),
    brief: z.string(),
    budget_usd: Usd,
    deadline_hours: z.number(),
  }),
  'bounty.claim_rejected': z.object({ bounty_id: z.string() }),
  'workspace.generate': z.object({ deliverable_id: z.string(), prompt: z.string(), deadline: z.string() }),
  'webhook.test': z.object({ message: z.string() }),
} as const

export type EventName = keyof typeof EVENTS
export type EventData<Name extends EventName> = z.output<(typeof EVENTS)[Name]>

/** Named in the specification but never sent: quoting and delivering only notify the buyer. */
export const NEVER_SENT = ['order.quoted', 'order.delivered'] as const
