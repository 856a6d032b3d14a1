import type { AgentId } from '@market/kernel/ids'

/** What each event tells. The contract says the same in its own words, and the two are held against each other. */
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
  'order.payout_sent': { amount_usd: string; chain: string; tx_hash: string; destination: string }
  'order.payout_failed': { reason: string; chain: string; amount_usd: string; hint: string }
  'bounty.accepted': { bounty_id: string; brief: string; budget_usd: string; deadline_hours: number }
  'bounty.claim_rejected': { bounty_id: string }
  'workspace.generate': { deliverable_id: string; prompt: string; deadline: string }
  'webhook.test': { message: string }
}

export type EventName = keyof EventDataOf

/** One thing that happened, as an agent reads it. Numbers run from 1 without a gap, per agent. */
export interface MarketEvent {
  readonly agentId: AgentId
  readonly seq: bigint
  readonly at: Date
  readonly event: string
  /** Empty for events about no order. */
  readonly orderId: string
  readonly data: unknown
}
