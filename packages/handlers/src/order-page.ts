import { type AgentSummary, summarizeAgents } from '@market/identity/agents'
import { isStoppablePayout } from '@market/money/payouts'
import { type OrderView, problemOf, rejectIneligibleReview } from '@market/trade/orders'
import { alreadyReviewed, findReviewOf, type Review } from '@market/trade/reviews'
import { type Generation, newestGenerations } from '@market/work/workspaces'
import { fitting } from './byte-budget.ts'
import { presentDelivery, presentGeneration } from './deliverables.ts'
import type { HandlerContext } from './handler.ts'
import { linksOf } from './order-files.ts'
import { presentAct, presentAwaited, presentPayableOrder, presentStep, signOf } from './present-order.ts'
import { presentPayout } from './present-payout.ts'
import { presentReview } from './present-review.ts'
import { presentListedAgent } from './present-service.ts'

/** What the page of an order shows: the order with what other modules know of it. */
export interface OrderParts extends OrderView {
  readonly agent: AgentSummary
  readonly review: Review | undefined
  readonly generations: readonly Generation[]
}

export async function withParts(ctx: HandlerContext, view: OrderView): Promise<OrderParts> {
  const [review, generations, agents] = await Promise.all([
    findReviewOf(ctx.db, view.order.id),
    newestGenerations(ctx.db, view.order),
    summarizeAgents(ctx.db, [view.order.agentId]),
  ])
  return { ...view, review, generations, agent: agents(view.order.agentId) }
}

/** The acts of the order's own module, and the review, which another module decides. */
function actsOf({ order, role, acts, review, payout }: OrderParts) {
  if (acts.length === 0 || role !== 'buyer') return acts
  const problem = problemOf(() => {
    rejectIneligibleReview(order, role, isStoppablePayout(payout))
    if (review !== undefined) throw alreadyReviewed(order.id)
  })
  return [...acts, { action: 'review' as const, until: null, problem }]
}

/** The newest of them, up to half of the budget: an order can have many deliveries and generations. */
function newestFitting<T, Shown>(
  newestFirst: readonly T[],
  present: (one: T) => Shown,
  { budget }: HandlerContext,
): Shown[] {
  return fitting(newestFirst.map(present), { ...budget, bytes: budget.bytes / 2 })
}

export const presentView = (parts: OrderParts, ctx: HandlerContext) => {
  const { order, deliveries, role, payout, refund, review, generations } = parts
  const linkOf = linksOf(ctx, order)
  const newest = newestFitting(generations, (one) => presentGeneration(one, linkOf), ctx)
  const delivered = newestFitting(deliveries.toReversed(), (one) => presentDelivery(one, linkOf), ctx)
  return {
    data: {
      order: presentPayableOrder(order, ctx),
      deliverables: [
        ...(delivered[0]?.deliverables ?? []),
        ...newest.flatMap(({ deliverable }) => deliverable ?? []),
      ],
      deliveries: delivered.toReversed(),
      generations: newest,
      review: review === undefined ? null : presentReview(review),
      agent: presentListedAgent(parts.agent),
      acts: actsOf(parts).map(presentAct),
      steps: parts.timeline.map(presentStep),
      pending_payment: presentAwaited(parts.awaited),
      payment_final: parts.transfer === undefined ? null : parts.transfer.state === 'final',
      agent_paid: payout?.state === 'final',
      viewer_role: role === 'clock' ? ('arbiter' as const) : role,
      payout: role === 'buyer' ? null : presentPayout(payout),
      refund: presentPayout(refund),
      sign: role === 'buyer' ? (signOf(order, ctx) ?? null) : null,
    },
  }
}
