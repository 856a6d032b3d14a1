import type { Needs } from '@market/core/context'
import { type Tx, transact } from '@market/database/transact'
import { formatUsd, type Usdc, ZERO } from '@market/kernel/money'
import { cancel, complete, deliver, expire, finish, lapse, start } from './changes.ts'
import { emitOrderCancelled } from './events.ts'
import { notifyBuyer } from './notifications.ts'
import { dueAt, isOpenWorkspace, type Order } from './order.ts'
import { distributeEscrow, refundBuyer } from './payment/order-money.ts'
import { policyOf } from './policy.ts'
import { BY_CLOCK } from './states.ts'
import { type Due, findDeliveries, lockNextDue, saveOrder } from './store.ts'
import { completedUnits, earnedPart } from './workspace.ts'

type Ctx = Needs<'clock' | 'ids'>

/** Limits one run, so that a long backlog leaves time for other jobs. */
const AT_ONCE = 1_000

/**
 * Applies the transitions that are due. Each order has its own transaction and is decided under its lock, so several
 * workers can run this at once, and an order that fails stays due without delaying the others.
 */
export async function applyDueTransitions(ctx: Ctx & Needs<'db'>): Promise<number> {
  const failures: unknown[] = []
  let tried = 0
  for (let after: Due | undefined; tried < AT_ONCE; tried++) {
    const next = await applyNext(ctx, after)
    if (next === undefined) break
    if ('error' in next) failures.push(next.error)
    after = next.due
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Due transitions of some orders failed')
  return tried
}

/** Applies the next transition after a position, and returns where it was. Undefined when nothing is due there. */
async function applyNext(
  ctx: Ctx & Needs<'db'>,
  after: Due | undefined,
): Promise<{ readonly due: Due; readonly error?: unknown } | undefined> {
  const found: { due?: Due } = {}
  const applied = transact(ctx.db, async (tx) => {
    const now = ctx.clock.now()
    const next = await lockNextDue(tx, now, after)
    if (next === undefined) return undefined
    found.due = next.due
    await applyDueTransition(ctx, tx, next.order, now)
    return { due: next.due }
  })
  return applied.catch((error: unknown) => {
    if (found.due === undefined) throw error
    return { due: found.due, error }
  })
}

type DueAction = 'expire' | 'lapse' | 'release' | 'finish' | 'overdue'

/** What the clock does to the order at this time; undefined when nothing is due. */
function dueAction(order: Order, now: Date): DueAction | undefined {
  const due = dueAt(order)
  if (due === null || due > now) return undefined
  switch (order.status) {
    case 'quoted':
    case 'accepted':
      // A quoted price must be quoted again; a listed price stays, and only its acceptance expires.
      return order.priceType === 'quote' ? 'expire' : 'lapse'
    case 'delivered':
      return 'release'
    default:
      return isOpenWorkspace(order) && order.contest === null ? endOfWorkspace(order) : 'overdue'
  }
}

/** A workspace ends at its time or when its quota is used up. It is refunded when every request in it failed. */
function endOfWorkspace(order: Order<'in_progress'>): 'finish' | 'overdue' {
  // fix: failed-workspace-refunded
  if (earnedPart(order) === ZERO) return 'overdue'
  return 'finish'
}

/** Applies the transition of a locked order whose deadline has passed, and returns the order as it is then. */
export async function applyDueTransition(ctx: Ctx, tx: Tx, order: Order, now: Date): Promise<Order> {
  switch (dueAction(order, now)) {
    case undefined:
      return order
    case 'expire':
    case 'lapse':
      return expirePrice(tx, order as Order<'quoted' | 'accepted'>, now)
    case 'release':
      return completeUnreviewed(ctx, tx, order as Order<'delivered'>, now)
    case 'finish':
      return endWorkspace(ctx, tx, order as Order<'in_progress'>, now)
    case 'overdue':
      return refundOverdue(ctx, tx, order as Order<'paid' | 'in_progress' | 'revision_requested'>, now)
  }
}

/** The order as `applyDueTransition` leaves it, for readers: a deadline counts even when the worker is late. */
export function afterDueTransition(order: Order, now: Date): Order {
  switch (dueAction(order, now)) {
    case undefined:
      return order
    case 'expire':
      return expire(order as Order<'quoted' | 'accepted'>)
    case 'lapse':
      return lapse(order as Order<'quoted' | 'accepted'>)
    case 'release':
      return complete(order as Order<'delivered'>, now)
    case 'finish': {
      const finished = finish(order as Order<'in_progress'>, now)
      return policyOf(order).hasReview ? finished : complete(finished, now)
    }
    case 'overdue':
      return cancel(order as Order<'paid' | 'in_progress' | 'revision_requested'>, now)
  }
}

function expirePrice(tx: Tx, order: Order<'quoted' | 'accepted'>, now: Date): Promise<Order> {
  const step = { ...BY_CLOCK, at: now }
  return order.priceType === 'quote'
    ? saveOrder(tx, order, expire(order), { ...step, action: 'expire' })
    : saveOrder(tx, order, lapse(order), { ...step, action: 'lapse' })
}

async function completeUnreviewed(ctx: Ctx, tx: Tx, order: Order<'delivered'>, now: Date): Promise<Order> {
  const completed = await completeDelivered(ctx, tx, order, now)
  await notifyBuyer(ctx, tx, completed, {
    kind: 'order.released',
    title: `“${order.title}” was approved automatically`,
    body: 'The review period ended without a response, so the agent is paid.',
  })
  return completed
}

/** Completes a delivered order without the buyer's approval and pays the agent. */
export async function completeDelivered(
  ctx: Ctx,
  tx: Tx,
  order: Order<'delivered'>,
  now: Date,
  agentPart?: Usdc,
): Promise<Order<'completed'>> {
  const step = { ...BY_CLOCK, action: 'release', at: now } as const
  const completed = await saveOrder(tx, order, complete(order, now, agentPart), step)
  await distributeEscrow(ctx, tx, completed)
  return completed
}

/** Ends a workspace and, where nobody reviews it, completes the order. */
export async function endWorkspace(ctx: Ctx, tx: Tx, order: Order<'in_progress'>, now: Date): Promise<Order> {
  if (endOfWorkspace(order) === 'overdue') return refundOverdue(ctx, tx, order, now)
  const step = { ...BY_CLOCK, action: 'finish', at: now } as const
  const delivered = await saveOrder(tx, order, finish(order, now), step)
  if (!policyOf(order).hasReview) return completeDelivered(ctx, tx, delivered, now)
  await notifyBuyer(ctx, tx, delivered, {
    kind: 'order.delivered',
    title: `The workspace of “${order.title}” has ended`,
    body: `${resultOf(delivered)} Approve it, request a revision or dispute it before ${delivered.reviewEndsAt.toISOString()}. After that it is approved automatically.`,
  })
  return delivered
}

/** What a buyer pays for a workspace follows from these counts. */
const resultOf = (order: Order<'delivered'>): string =>
  `${completedUnits(order)} generations were completed and ${order.quotaFailed} failed: ${formatUsd(earnedPart(order))} of ${formatUsd(order.price)} USD is for the agent.`

async function refundOverdue(
  ctx: Ctx,
  tx: Tx,
  order: Order<'paid' | 'in_progress' | 'revision_requested'>,
  now: Date,
): Promise<Order> {
  const step = { ...BY_CLOCK, action: 'overdue', at: now } as const
  const cancelled = await saveOrder(tx, order, cancel(order, now), step)
  await refundBuyer(ctx, tx, cancelled)
  await emitOrderCancelled(ctx, tx, cancelled, order.status)
  await notifyBuyer(ctx, tx, cancelled, {
    kind: 'order.refunded',
    title: refundTitle(order),
    body: 'Your payment is being refunded to the wallet that paid.',
  })
  return cancelled
}

function refundTitle(order: Order<'paid' | 'in_progress' | 'revision_requested'>): string {
  if (order.contest !== null)
    return `The contest about the payment for “${order.title}” ended without a signature`
  return isOpenWorkspace(order)
    ? `Every generation of “${order.title}” failed`
    : `“${order.title}” was not delivered in time`
}

/** What follows at once from a payment: an earlier delivery counts again, or the workspace opens. */
export async function continuePaid(
  ctx: Ctx,
  tx: Tx,
  order: Order<'paid'>,
): Promise<Order<'paid' | 'in_progress' | 'completed'>> {
  if (await wasCompleted(tx, order)) return restoreDelivery(ctx, tx, order)
  if (order.quotaTotal === 0) return order
  const step = { ...BY_CLOCK, action: 'start', at: ctx.clock.now() } as const
  return saveOrder(tx, order, start(order), step)
}

/** Of an order without a review, which is completed when it is delivered. */
const wasCompleted = async (tx: Tx, order: Order<'paid'>): Promise<boolean> =>
  !policyOf(order).hasReview && (order.agentPart !== null || (await findDeliveries(tx, order.id)).length > 0)

/**
 * An order whose payment was reversed by a reorganisation and then confirmed again: the earlier delivery and an
 * arbiter's decision count, so the order is completed. While its payment is contested, the payout waits.
 */
async function restoreDelivery(ctx: Ctx, tx: Tx, order: Order<'paid'>): Promise<Order<'completed'>> {
  const now = ctx.clock.now()
  const step = { ...BY_CLOCK, action: 'restore_delivery', at: now } as const
  const delivered = await saveOrder(tx, order, deliver(order, now), step)
  return completeDelivered(ctx, tx, delivered, now, order.agentPart ?? undefined)
}
