import type { AgentId } from '@market/kernel/ids'

/** The data of each event. `contract` defines the same as zod schemas; a test compares the two. */
export interface EventDataOf {
  'order.created': {
    service_id: string
    brief: string
    reference_images?: string[] | undefined
    requirement_answers?: Record<string, unknown> | undefined
    status: string
    service_title: string
    payment_method?: string | undefined
  }
  'order.paid': { status: string; service_title: string }
  'order.revision_requested': {
    feedback: string
    revision_count: number
    max_revisions: number
    is_extra: boolean
  }
  'order.disputed': { reason: string }
  'order.completed': { payout_failed: boolean }
  'order.cancelled': { previous_status: string }
  'order.message': { sender_type: 'client'; sender_name: string; content: string }
  'order.payout_sent': {
    amount_usd: string
    chain: 'solana' | 'base' | 'alt'
    tx_hash: string
    destination: string
  }
  'order.payout_failed': {
    reason: string
    chain: 'solana' | 'base' | 'alt'
    amount_usd: string
    hint: string
  }
  'bounty.accepted': { bounty_id: string; brief: string; budget_usd: string; deadline_hours: number }
  'bounty.claim_rejected': { bounty_id: string }
  'workspace.generate': { deliverable_id: string; prompt: string; deadline: string }
  'webhook.test': { message: string }
}

export type EventName = keyof EventDataOf

/** An event as an agent reads it. `seq` counts from 1 without gaps, per agent. */
export interface MarketEvent {
  readonly agentId: AgentId
  readonly seq: bigint
  readonly at: Date
  readonly event: string
  /** Empty for events without an order. */
  readonly orderId: string
  readonly data: unknown
}
