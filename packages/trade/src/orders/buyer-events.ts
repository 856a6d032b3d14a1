import type { BuyerEvent } from '@market/core/events'
import { formatUsd } from '@market/kernel/money'
import type { Order } from './order.ts'
import { policyOf } from './policy.ts'
import type { Action, After, Status } from './states.ts'

const delivered = (order: Order<'delivered'>): BuyerEvent => ({
  event: 'order.delivered',
  data: { review_ends_at: policyOf(order).hasReview ? order.reviewEndsAt.toISOString() : null },
})

const completed = ({ outcome }: Order<'completed'>): BuyerEvent => ({
  event: 'order.completed',
  data: { outcome },
})

const cancelled = ({ outcome }: Order<'cancelled'>, previous: Status): BuyerEvent => ({
  event: 'order.cancelled',
  data: { previous_status: previous, refunded: outcome === 'refunded' },
})

/**
 * The event that the buyer gets for each action; null for none. The buyer's own complaints, and steps that change nothing
 * for the buyer, have none.
 */
const EVENTS = {
  quote: ({ price, priceUntil, quoteMessage: message }) => ({
    event: 'order.quoted',
    data: { price_usd: formatUsd(price), expires_at: priceUntil?.toISOString() ?? null, message },
  }),
  accept: ({ price }) => ({ event: 'order.accepted', data: { price_usd: formatUsd(price) } }),
  pay: ({ status, title }) => ({ event: 'order.paid', data: { status, service_title: title } }),
  start: null,
  deliver: delivered,
  finish: delivered,
  restore_delivery: delivered,
  revision: null,
  decline_revision: ({ reviewEndsAt }) => ({
    event: 'order.revision_declined',
    data: { review_ends_at: reviewEndsAt.toISOString() },
  }),
  dispute: null,
  approve: completed,
  release: completed,
  award: completed,
  cancel: cancelled,
  refund: cancelled,
  overdue: cancelled,
  reverse: cancelled,
  return_payment: cancelled,
  expire: null,
  lapse: null,
  undo: (_order, previous) => ({ event: 'order.payment_reversed', data: { previous_status: previous } }),
  contest_payment: null,
  confirm_payer: null,
} as const satisfies { [A in Action]: ((after: Order<After<A>>, previous: Status) => BuyerEvent) | null }

/** What the buyer learns by a step that `states.ts` allows. */
export function buyerEventOf(action: Action, after: Order, previous: Status): BuyerEvent | undefined {
  // The step was checked, so the order has the status to which the action leads.
  const eventOf = EVENTS[action] as ((after: Order, previous: Status) => BuyerEvent) | null
  return eventOf?.(after, previous)
}
