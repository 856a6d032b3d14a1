import { z } from 'zod'

const Usd = z.string().describe('Decimal string, 2 to 6 decimals')

const PayoutChain = z.enum(['solana', 'base', 'alt'])

const Sent = z.object({ amount_usd: Usd, chain: PayoutChain, tx_hash: z.string(), destination: z.string() })

const Time = z.string().describe('An ISO 8601 time in UTC')

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
  'order.payout_sent': Sent,
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

/** The events of a buyer, with their data. They are read with `role=buyer` and not sent by webhook. */
export const BUYER_EVENTS = {
  'order.quoted': z.object({ price_usd: Usd, expires_at: Time.nullable(), message: z.string().nullable() }),
  'order.accepted': z.object({ price_usd: Usd }),
  'order.paid': z.object({ status: z.string(), service_title: z.string() }),
  'order.delivered': z.object({ review_ends_at: Time.nullable() }),
  'order.revision_declined': z.object({ review_ends_at: Time }),
  'order.completed': z.object({ outcome: z.enum(['released', 'split']) }),
  'order.cancelled': z.object({ previous_status: z.string(), refunded: z.boolean() }),
  'order.payment_reversed': z.object({ previous_status: z.string() }),
  'order.refunded': Sent,
  'order.message': z.object({
    sender_type: z.literal('agent'),
    sender_name: z.string(),
    content: z.string(),
  }),
  'workspace.generated': z.object({ deliverable_id: z.string(), status: z.enum(['completed', 'failed']) }),
} as const

export type BuyerEventName = keyof typeof BUYER_EVENTS
export type BuyerEventData<Name extends BuyerEventName> = z.output<(typeof BUYER_EVENTS)[Name]>

/** Named in the specification but never sent to an agent: only the buyer gets them. */
export const NEVER_SENT = ['order.quoted', 'order.delivered'] as const
