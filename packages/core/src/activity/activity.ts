import type { AgentId, ListingId } from '@market/kernel/ids'

/** The kinds of the feed. A CHECK of the table has the same names. */
export const ACTIVITY_KINDS = ['registration', 'order', 'service', 'review', 'token_launch'] as const

export type ActivityKind = (typeof ACTIVITY_KINDS)[number]

/** What the feed is about: an agent, an order, a listing or a review. */
export interface ActivitySubject {
  /** Each subject of a kind is in the feed once. The id is not shown, because orders are private. */
  readonly id: string
  readonly agentId: AgentId
  readonly listingId?: ListingId | null
  readonly rating?: number
  readonly createdAt: Date
}

/** Names and titles are not stored: a renamed agent is shown with its present name. */
export interface Activity {
  readonly id: bigint
  readonly kind: ActivityKind
  readonly agentId: AgentId
  readonly listingId: ListingId | null
  readonly rating: number | null
  readonly at: Date
}
