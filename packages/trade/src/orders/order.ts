import type { Buyer } from '@market/core/events'
import type { WalletEvidence } from '@market/core/ports/signatures'
import { DAY, later } from '@market/kernel/clock'
import type { AgentId, BountyId, ListingId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type PaymentMethod, policyOf } from './policy.ts'
import type { Status } from './states.ts'

/** How long a payout waits whose payer is not proven, when the order does not say it. */
const LONGEST_WAIT_MS = 7 * DAY
/** How long the payer of a contested order that was not delivered can sign before the payment is refunded. */
const CONTEST_MS = 7 * DAY

export type { Buyer }
export type PriceType = 'fixed' | 'quote' | 'weekly' | 'monthly'

export interface Payment {
  readonly network: Network
  readonly reference: string
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

/** A contest of the payment. Without an end the order was delivered before it, and an arbiter decides. */
export interface Contest {
  readonly at: Date
  readonly endsAt: Date | null
}

/** The fields that an order has in every status. */
export interface Core {
  readonly id: OrderId
  /** What was ordered; null for the order of a bounty. */
  readonly listingId: ListingId | null
  /** The bounty of which a claim was accepted; null for the order of a listing. */
  readonly bountyId: BountyId | null
  readonly agentId: AgentId
  readonly buyer: Buyer
  /** The key of a wallet that the buyer has proven to own. */
  readonly clientWallet: string | null
  /** How that wallet was proven: by a signature or by its payment. Null for a linked wallet, and before this was recorded. */
  readonly clientProvenBy: WalletEvidence | null
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
  /** How many generations the price includes; 0 when the order opens no workspace. */
  readonly quotaTotal: number
  /** How many generations were requested and did not fail. */
  readonly quotaUsed: number
  /** How many of these wait for the agent. */
  readonly quotaPending: number
  /** How many generations failed. Their units were returned to the quota. */
  readonly quotaFailed: number
  /** Until when the buyer can request generations; null until the order is paid. */
  readonly workspaceEndsAt: Date | null
  readonly paymentMethod: PaymentMethod
  /** Whether a request with its payment also had a credential: then its buyer reviews the delivery. */
  readonly forPrincipal: boolean
  /** False while only a public transaction hash says who paid. A signature of the payer or an arbiter changes it. */
  readonly payerProven: boolean
  /**
   * The agent's part of the price, its fee included, written by the command that ends the order; null before. It stays
   * when the chain reverses the payment, so that the same decision counts when the payment is confirmed again.
   */
  readonly agentPart: Usdc | null
  /** Until when the payout waits because the payer is not proven; null when it does not wait. */
  readonly payoutWaitsUntil: Date | null
  /** Another request named the same transfer with other content; null when none did, or when it is decided. */
  readonly contest: Contest | null
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
  /** Of a workspace: its end, or the last deadline of a generation that was requested before. */
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
  accepted: Priced & {
    /** A transfer that the buyer named before it had enough confirmations. Its payment intent ends the wait. */
    readonly pending: Payment | null
    readonly paymentError: string | null
  }
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
    readonly pending: Payment | null
  }
}

/** The fields of all statuses together. */
interface AllFacts extends Paid {
  readonly pending: Payment | null
  readonly paymentError: string | null
  readonly deliveredAt: Date
  readonly reviewEndsAt: Date
  readonly reviewLeftMs: number
  readonly complaint: string
  readonly closedAt: Date
  readonly outcome: Outcome
}
export type StoredFacts = { readonly [Field in keyof AllFacts]: AllFacts[Field] | null }

const NO_FACTS: { readonly [Field in keyof AllFacts]: null } = {
  price: null,
  priceUntil: null,
  quoteMessage: null,
  payment: null,
  paidAt: null,
  deliverBy: null,
  pending: null,
  paymentError: null,
  deliveredAt: null,
  reviewEndsAt: null,
  reviewLeftMs: null,
  complaint: null,
  closedAt: null,
  outcome: null,
}

/** An order as it is stored and presented: a field that its status does not have is null. */
export interface StoredOrder extends Core, StoredFacts {
  readonly status: Status
}

export type Order<S extends Status = Status> = { [K in S]: Core & { readonly status: K } & Facts[K] }[S]

export const storedOrder = (order: Order): StoredOrder => ({ ...NO_FACTS, ...order })

export const purposeOf = ({ id }: Pick<Core, 'id'>) => ({ kind: 'order', id }) as const

/** Its agent answers single requests. It is delivered at its end, or when the quota is used up. */
export const isOpenWorkspace = (order: Order): order is Order<'in_progress'> =>
  order.status === 'in_progress' && order.quotaTotal > 0

export const isExtra = ({ revisionCount, maxRevisions }: Core): boolean => revisionCount > maxRevisions

/** When the clock moves the order unless somebody acts before. */
export function dueAt(order: Order): Date | null {
  switch (order.status) {
    case 'quoted':
      return order.priceUntil
    case 'accepted':
      // The payment intent ends the wait for a pending transfer.
      return order.pending === null ? order.priceUntil : null
    case 'paid':
    case 'in_progress':
    case 'revision_requested':
      if (order.contest !== null) return order.contest.endsAt
      return isOpenWorkspace(order) ? order.deliverBy : later(order.deliverBy, policyOf(order).graceMs)
    case 'delivered':
      return order.contest === null ? order.reviewEndsAt : null
    default:
      return null
  }
}

/** Until then nothing is paid out; undefined when the payer is proven. */
export const payoutWait = ({
  paidAt,
  payerProven,
  payoutWaitsUntil,
}: Core & Pick<Paid, 'paidAt'>): Date | undefined =>
  payerProven ? undefined : (payoutWaitsUntil ?? later(paidAt, LONGEST_WAIT_MS))

/** Whether the work was delivered is judged at the moment of the contest. */
export const contestAt = (now: Date, isDelivered: boolean): Contest => ({
  at: now,
  endsAt: isDelivered ? null : later(now, CONTEST_MS),
})

/** The payer signed for this order, or an arbiter decided: nobody can contest it any more. */
export const decided = <T extends Core>(order: T): T => ({
  ...order,
  payerProven: true,
  payoutWaitsUntil: null,
  contest: null,
})

/** The fields of every status, without those of this one. */
export const bare = (order: Order): Core =>
  Object.fromEntries(
    Object.entries(order).filter(([field]) => field !== 'status' && !Object.hasOwn(NO_FACTS, field)),
  ) as unknown as Core

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
