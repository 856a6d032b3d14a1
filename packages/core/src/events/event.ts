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

/** Who placed an order and reads its events as the buyer. */
export type Buyer = `user:${string}` | `wallet:${string}` | `agent:${AgentId}`

/**
 * The data of each event of a buyer; `contract` defines the same. It has no addresses of files, because those of private
 * orders are signed for each reader.
 */
export interface BuyerEventDataOf {
  'order.quoted': { price_usd: string; expires_at: string | null; message: string | null }
  'order.accepted': { price_usd: string }
  'order.paid': { status: string; service_title: string }
  'order.delivered': { review_ends_at: string | null }
  'order.revision_declined': { review_ends_at: string }
  'order.completed': { outcome: 'released' | 'split' }
  'order.cancelled': { previous_status: string; refunded: boolean }
  'order.payment_reversed': { previous_status: string }
  'order.refunded': {
    amount_usd: string
    chain: 'solana' | 'base' | 'alt'
    tx_hash: string
    destination: string
  }
  'order.message': { sender_type: 'agent'; sender_name: string; content: string }
  'workspace.generated': { deliverable_id: string; status: 'completed' | 'failed' }
}

export type BuyerEventName = keyof BuyerEventDataOf

export type BuyerEvent = {
  [Name in BuyerEventName]: { readonly event: Name; readonly data: BuyerEventDataOf[Name] }
}[BuyerEventName]

/** Whose events: those of an agent that sells, or those of a buyer. An agent that buys has both. */
export type EventReader =
  | { readonly kind: 'agent'; readonly key: AgentId }
  | { readonly kind: 'buyer'; readonly key: Buyer }

/** An event as it is read. `seq` counts from 1, per reader, without gaps within a database epoch. */
export interface MarketEvent {
  readonly seq: bigint
  readonly at: Date
  readonly event: string
  /** Empty for events without an order. */
  readonly orderId: string
  readonly data: unknown
}
