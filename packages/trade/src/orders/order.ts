import { HOUR, later } from '@market/kernel/clock'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type PaymentMethod, policyOf } from './policy.ts'
import type { Status } from './states.ts'

/** How long the payer can contest an order that another caller may have placed with the payer's transfer. */
const CONTEST_MS = 1 * HOUR

export type Buyer = `user:${string}` | `wallet:${string}` | `agent:${AgentId}`
export type PriceType = 'fixed' | 'quote' | 'weekly' | 'monthly'

export interface Payment {
  readonly network: Network
  readonly reference: string
}

/** A transfer that the buyer named before it had enough confirmations. */
export interface PendingPayment extends Payment {
  readonly payers: readonly string[]
  readonly since: Date
}

/** One delivered item: a URL, or the text or code itself. */
export interface Deliverable {
  readonly type: 'image' | 'video' | 'link' | 'document' | 'code' | 'text'
  readonly url?: string | undefined
  readonly content?: string | undefined
  readonly media_type?: string | undefined
  readonly sha256?: string | undefined
  readonly title?: string | undefined
}

export interface Delivery {
  readonly n: number
  readonly note: string | null
  readonly items: readonly Deliverable[]
  readonly at: Date
}

/** The fields that an order has in every status. */
export interface Core {
  readonly id: OrderId
  readonly listingId: ListingId
  readonly agentId: AgentId
  readonly buyer: Buyer
  /** The key of a wallet that the buyer has proven to own. */
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
  readonly paymentMethod: PaymentMethod
  /** Whether the caller who placed the order has proven to be the payer. Anyone can read a transaction hash. */
  readonly payerProven: boolean
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
  /** What was left of the review period when it was stopped. */
  readonly reviewLeftMs: number
  readonly complaint: string
}
export type Outcome = 'released' | 'refunded' | 'split' | 'unpaid'

/** The fields of each status: the types allow no paid order without a payment. */
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
    /** A transfer that was pending when the order was cancelled. It is refunded when it arrives. */
    readonly pending: PendingPayment | null
  }
}

/** The fields of all statuses together, for the store. */
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

/** When the clock moves the order unless somebody acts before. */
export function dueAt(order: Order): Date | null {
  switch (order.status) {
    case 'quoted':
      return order.priceUntil
    case 'accepted':
      // The payment sweep ends the wait for a pending transfer.
      return order.pending === null ? order.priceUntil : null
    case 'paid':
    case 'in_progress':
    case 'revision_requested':
      return later(order.deliverBy, policyOf(order).graceMs)
    case 'delivered':
      return order.reviewEndsAt
    default:
      return null
  }
}

/** Until then the payer can contest the order, so nothing is paid out; undefined when the payer is proven. */
export const contestableUntil = ({ paidAt, payerProven }: Core & Pick<Paid, 'paidAt'>): Date | undefined =>
  payerProven ? undefined : later(paidAt, CONTEST_MS)

/** The fields of every status, without those of this one. */
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
  payerProven: order.payerProven,
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
