import { type Actor, type Needs, nameOf } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { HOUR, later } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { rejectLowPrice } from '@market/offers/listings'
import * as changes from './changes.ts'
import { applyDueTransition, completeDelivered } from './deadlines.ts'
import { emitOrderCancelled, emitOrderDisputed, emitRevisionRequested } from './events.ts'
import { notifyBuyer } from './notifications.ts'
import type { Deliverable, Order } from './order.ts'
import { roleIn } from './order-role.ts'
import { distributeEscrow, refundBuyer } from './payment/order-money.ts'
import { withNetworks } from './payment/payable-networks.ts'
import { policyOf } from './policy.ts'
import { type PartyAction, rejectAct, rejectDeliveryNumber } from './possible-acts.ts'
import { type Before, type OrderRole, requireRole, type Status } from './states.ts'
import { insertDelivery, lockOrder, saveOrder } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids'>

/** An action of a party: the change of the order, and what else happens in the same transaction. */
interface Act<A extends PartyAction, S extends Status> {
  readonly orderId: OrderId
  readonly actor: Actor
  readonly action: A
  readonly change: (order: Order<Before<A>>, role: OrderRole, now: Date) => Order<S>
  readonly afterwards?: (
    tx: Tx,
    after: Order<S>,
    before: Order<Before<A>>,
    role: OrderRole,
  ) => Promise<unknown>
  /** Applies transitions that follow at once, and returns the order as it is then. */
  readonly followUp?: (tx: Tx, after: Order<S>) => Promise<Order<S>>
}

/**
 * Role and status are checked under the order's row lock, so the second of two simultaneous actions sees the result of
 * the first. A due transition is applied before the check, so a deadline counts even when the worker is late.
 */
function act<A extends PartyAction, S extends Status>(
  ctx: Ctx,
  { orderId, actor, action, change, afterwards, followUp }: Act<A, S>,
): Promise<Order<S>> {
  return ctx.transact(async (tx) => {
    const locked = await lockOrder(tx, orderId)
    const role = await roleIn(tx, locked, actor)
    requireRole(role, action)
    const now = ctx.clock.now()
    const order: Order = await applyDueTransition(ctx, tx, locked, now)
    rejectAct(order, action, role, now)
    const before = order as Order<Before<A>>
    const step = { action, role, actor: nameOf(actor), at: now }
    const after = await saveOrder(tx, order, change(before, role, now), step)
    await afterwards?.(tx, after, before, role)
    return (await followUp?.(tx, after)) ?? after
  })
}

/** The agent sets the price. It is valid until it expires. */
export const quoteOrder = (
  ctx: Ctx & Needs<'minPrice'>,
  actor: Actor,
  offer: { orderId: OrderId; price: Usdc; expiresInHours: number; message: string | null },
): Promise<Order<'quoted'>> =>
  act(ctx, {
    orderId: offer.orderId,
    actor,
    action: 'quote',
    change: (order, _role, now) => {
      rejectLowPrice(offer.price, ctx.minPrice)
      return changes.quote(order, offer.price, {
        until: later(now, offer.expiresInHours * HOUR),
        message: offer.message,
      })
    },
    afterwards: (tx, order) =>
      notifyBuyer(ctx, tx, order, {
        kind: 'order.quoted',
        title: `A price for “${order.title}”`,
        body: `The agent asks ${formatUsd(offer.price)} USDC. Accept or pay before the quote expires.`,
      }),
  })

/** The buyer accepts the price, which is then fixed for at least a day. */
export const acceptOrder = (ctx: Ctx, actor: Actor, orderId: OrderId): Promise<Order<'accepted'>> =>
  act(ctx, {
    orderId,
    actor,
    action: 'accept',
    change: (order, _role, now) => changes.accept(order, now),
    followUp: (tx, after) => withNetworks(ctx, tx, after),
  })

export const startOrder = (ctx: Ctx, actor: Actor, orderId: OrderId): Promise<Order<'in_progress'>> =>
  act(ctx, { orderId, actor, action: 'start', change: (order) => changes.start(order) })

/** The agent delivers, and the review period starts. An order without a review is completed at once. */
export const deliverOrder = (
  ctx: Ctx,
  actor: Actor,
  delivery: { orderId: OrderId; items: readonly Deliverable[]; note: string | null },
): Promise<Order<'delivered' | 'completed'>> =>
  act<'deliver', 'delivered' | 'completed'>(ctx, {
    orderId: delivery.orderId,
    actor,
    action: 'deliver',
    change: (order, _role, now) => changes.deliver(order, now),
    followUp: async (tx, order) => {
      if (order.status !== 'delivered') return order
      const { note, items } = delivery
      const n = await insertDelivery(tx, order.id, { note, items, at: order.deliveredAt })
      rejectDeliveryNumber(n)
      if (!policyOf(order).hasReview) return completeDelivered(ctx, tx, order, ctx.clock.now())
      await notifyBuyer(ctx, tx, order, {
        kind: 'order.delivered',
        title: `“${order.title}” was delivered`,
        body: `Approve it, request a revision or dispute it before ${order.reviewEndsAt.toISOString()}. After that it is approved automatically.`,
      })
      return order
    },
  })

export const approveOrder = (ctx: Ctx, actor: Actor, orderId: OrderId): Promise<Order<'completed'>> =>
  act(ctx, {
    orderId,
    actor,
    action: 'approve',
    change: (order, _role, now) => changes.complete(order, now),
    afterwards: (tx, order) => distributeEscrow(ctx, tx, order),
  })

export const requestRevision = (
  ctx: Ctx,
  actor: Actor,
  request: { orderId: OrderId; feedback: string },
): Promise<Order<'revision_requested'>> =>
  act(ctx, {
    orderId: request.orderId,
    actor,
    action: 'revision',
    change: (order, _role, now) => changes.revise(order, request.feedback, now),
    afterwards: (tx, order) => emitRevisionRequested(ctx, tx, order),
  })

/** The agent declines a revision that the price does not include. The review continues with the time it had left. */
export const declineRevision = (ctx: Ctx, actor: Actor, orderId: OrderId): Promise<Order<'delivered'>> =>
  act(ctx, {
    orderId,
    actor,
    action: 'decline_revision',
    change: (order, _role, now) => changes.declineRevision(order, now),
    afterwards: (tx, order) =>
      notifyBuyer(ctx, tx, order, {
        kind: 'order.revision_declined',
        title: `The agent declined a further revision of “${order.title}”`,
        body: `Approve or dispute the delivery before ${order.reviewEndsAt.toISOString()}.`,
      }),
  })

/** Stops the review period until an arbiter, the buyer or the agent ends the dispute. */
export const disputeOrder = (
  ctx: Ctx,
  actor: Actor,
  dispute: { orderId: OrderId; reason: string },
): Promise<Order<'disputed'>> =>
  act(ctx, {
    orderId: dispute.orderId,
    actor,
    action: 'dispute',
    change: (order, _role, now) => changes.dispute(order, dispute.reason, now),
    afterwards: (tx, order) => emitOrderDisputed(ctx, tx, order),
  })

const CANCELLED_BODY = {
  refunded: 'Your payment is being refunded.',
  unpaid: 'You paid nothing. A transfer that still arrives for this order is refunded.',
} as const

/** Cancels an order before its delivery and refunds the payment. */
export const cancelOrder = (ctx: Ctx, actor: Actor, orderId: OrderId): Promise<Order<'cancelled'>> =>
  act(ctx, {
    orderId,
    actor,
    action: 'cancel',
    change: (order, _role, now) => changes.cancel(order, now),
    afterwards: async (tx, order, before, role) => {
      await refundBuyer(ctx, tx, order)
      await emitOrderCancelled(ctx, tx, order, before.status)
      if (role === 'buyer') return
      await notifyBuyer(ctx, tx, order, {
        kind: 'order.cancelled',
        title: `The agent cancelled “${order.title}”`,
        body: CANCELLED_BODY[order.outcome],
      })
    },
  })

/** The agent ends a dispute by refunding the whole payment. */
export const refundOrder = (ctx: Ctx, actor: Actor, orderId: OrderId): Promise<Order<'cancelled'>> =>
  act(ctx, {
    orderId,
    actor,
    action: 'refund',
    change: (order, _role, now) => changes.cancel(order, now),
    afterwards: async (tx, order, before) => {
      await refundBuyer(ctx, tx, order)
      await emitOrderCancelled(ctx, tx, order, before.status)
      await notifyBuyer(ctx, tx, order, {
        kind: 'order.refunded',
        title: `The agent refunds your payment for “${order.title}”`,
        body: 'The refund is sent to the wallet that paid.',
      })
    },
  })
