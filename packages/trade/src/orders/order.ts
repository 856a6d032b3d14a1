import { EVER, earlier, HOUR, later, MINUTE } from '@market/kernel/clock'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Status } from './states.ts'

/** How long after its deadline an order that was not delivered is refunded by itself. */
const GRACE_MS = 24 * HOUR
/** Block times are coarse: a transfer may seem to be a little older than the order it was made for. */
const BLOCK_TIME_SLACK_MS = 1 * MINUTE

export type Buyer = `user:${string}` | `wallet:${string}` | `agent:${AgentId}`
export type PriceType = 'fixed' | 'quote' | 'weekly' | 'monthly'

export interface Payment {
  readonly network: Network
  readonly reference: string
}

/** A transfer that was named before it was settled enough to count. */
export interface PendingPayment extends Payment {
  readonly payers: readonly string[]
  readonly since: Date
}

/** What an order is from its first moment to its last. */
export interface Core {
  readonly id: OrderId
  readonly listingId: ListingId
  readonly agentId: AgentId
  readonly buyer: Buyer
  /** A wallet the buyer has proven to be theirs, by its key. */
  readonly clientWallet: string | null
  readonly title: string
  readonly brief: string
  readonly referenceUrls: readonly string[]
  readonly referenceImages: readonly string[]
  readonly requirementAnswers: Readonly<Record<string, unknown>>
  readonly priceType: PriceType
  readonly turnaroundHours: number
  readonly maxRevisions: number
  readonly revisionCount: number
  readonly isPrivate: boolean
  readonly paymentMethod: 'x402' | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface Priced {
  readonly price: Usdc
  readonly priceUntil: Date | null
  readonly quoteMessage: string | null
}
interface Paid extends Priced {
  readonly payment: Payment
  readonly paidAt: Date
  readonly deliverBy: Date
}
interface Delivered extends Paid {
  readonly deliveredAt: Date
}
interface Complained extends Delivered {
  /** What was left of the review when its clock was stopped. */
  readonly reviewLeftMs: number
  readonly complaint: string
}
export type Outcome = 'released' | 'refunded' | 'split' | 'unpaid'

/** What is known in each state: a paid order without a payment cannot be written down. */
interface Facts {
  pending_quote: unknown
  quoted: Priced
  accepted: Priced & { readonly pending: PendingPayment | null; readonly paymentError: string | null }
  paid: Paid
  in_progress: Paid
  delivered: Delivered & { readonly reviewEndsAt: Date }
  revision_requested: Complained
  disputed: Complained
  completed: Paid & {
    readonly deliveredAt: Date
    readonly closedAt: Date
    readonly outcome: 'released' | 'split'
  }
  cancelled: Partial<Paid> & {
    readonly closedAt: Date
    readonly outcome: 'refunded' | 'unpaid'
    /** One that was under way when the order was cancelled: it goes back when it arrives. */
    readonly pending: PendingPayment | null
  }
}

/** All that any state knows, for whoever writes an order down. */
export interface AllFacts extends Paid {
  readonly pending: PendingPayment | null
  readonly paymentError: string | null
  readonly deliveredAt: Date
  readonly reviewEndsAt: Date
  readonly reviewLeftMs: number
  readonly complaint: string
  readonly closedAt: Date
  readonly outcome: Outcome
}

export type Order<S extends Status = Status> = { [K in S]: Core & { readonly status: K } & Facts[K] }[S]

export const purposeOf = ({ id }: Pick<Core, 'id'>) => ({ kind: 'order', id }) as const

export const isExtra = ({ revisionCount, maxRevisions }: Core): boolean => revisionCount > maxRevisions

/** When the order moves by itself unless somebody acts before. */
export function dueAt(order: Order): Date | null {
  switch (order.status) {
    case 'quoted':
      return order.priceUntil
    case 'accepted':
      // A payment under way is waited for; its own job ends the waiting.
      return order.pending === null ? order.priceUntil : null
    case 'paid':
    case 'in_progress':
    case 'revision_requested':
      return order.paymentMethod === 'x402' ? order.deliverBy : later(order.deliverBy, GRACE_MS)
    case 'delivered':
      return order.reviewEndsAt
    default:
      return null
  }
}

/** A payment made before its order was made for something else; but a program's order is made by its payment. */
export const earliestPayment = ({ createdAt, paymentMethod }: Core): Date =>
  paymentMethod === 'x402' ? EVER : earlier(createdAt, BLOCK_TIME_SLACK_MS)

/** What an order is in every state, without what this one knows beside. */
export const bare = (order: Order): Core => ({
  id: order.id,
  listingId: order.listingId,
  agentId: order.agentId,
  buyer: order.buyer,
  clientWallet: order.clientWallet,
  title: order.title,
  brief: order.brief,
  referenceUrls: order.referenceUrls,
  referenceImages: order.referenceImages,
  requirementAnswers: order.requirementAnswers,
  priceType: order.priceType,
  turnaroundHours: order.turnaroundHours,
  maxRevisions: order.maxRevisions,
  revisionCount: order.revisionCount,
  isPrivate: order.isPrivate,
  paymentMethod: order.paymentMethod,
  createdAt: order.createdAt,
  updatedAt: order.updatedAt,
})

export const pricedPart = (order: Order): Partial<Priced> =>
  'price' in order && order.price !== undefined
    ? { price: order.price, priceUntil: null, quoteMessage: order.quoteMessage ?? null }
    : {}

export const paidPart = (order: Core & Paid & { readonly status: Status }): Core & Paid => ({
  ...bare(order as Order),
  price: order.price,
  priceUntil: null,
  quoteMessage: order.quoteMessage,
  payment: order.payment,
  paidAt: order.paidAt,
  deliverBy: order.deliverBy,
})
