import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { cancel, expire, lapse } from './changes.ts'
import { tellCancelled } from './events.ts'
import { giveBack } from './give-back.ts'
import { tellBuyer } from './notices.ts'
import { dueAt, type Order } from './order.ts'
import { release } from './release.ts'
import { BY_CLOCK } from './states.ts'
import { saveOrder } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

/**
 * Moves a locked order whose own time has come: a price that is over, a delivery that nobody looked at, work that never
 * came. Gives it back as it is then.
 */
export async function moveIfDue(ctx: Ctx, tx: Tx, order: Order, now: Date): Promise<Order> {
  const due = dueAt(order)
  if (due === null || due > now) return order
  switch (order.status) {
    case 'quoted':
    case 'accepted':
      return forgetPrice(tx, order, now)
    case 'delivered':
      return releaseUnanswered(ctx, tx, order, now)
    case 'paid':
    case 'in_progress':
    case 'revision_requested':
      return refundLate(ctx, tx, order, now)
    default:
      return order
  }
}

/** A quoted price is asked for anew; a listed one stands. */
function forgetPrice(tx: Tx, order: Order<'quoted' | 'accepted'>, now: Date): Promise<Order> {
  const step = { ...BY_CLOCK, at: now }
  return order.priceType === 'quote'
    ? saveOrder(tx, order, expire(order), { ...step, action: 'expire' })
    : saveOrder(tx, order, lapse(order), { ...step, action: 'lapse' })
}

async function releaseUnanswered(ctx: Ctx, tx: Tx, order: Order<'delivered'>, now: Date): Promise<Order> {
  const completed = await release(ctx, tx, order, now)
  await tellBuyer(ctx, tx, completed, {
    kind: 'order.released',
    title: `“${order.title}” counts as approved`,
    body: 'Its review window ended without a word from you, and the agent is paid.',
  })
  return completed
}

async function refundLate(
  ctx: Ctx,
  tx: Tx,
  order: Order<'paid' | 'in_progress' | 'revision_requested'>,
  now: Date,
): Promise<Order> {
  const step = { ...BY_CLOCK, action: 'overdue', at: now } as const
  const cancelled = await saveOrder(tx, order, cancel(order, now), step)
  await giveBack(ctx, tx, cancelled)
  await tellCancelled(ctx, tx, cancelled, order.status)
  await tellBuyer(ctx, tx, cancelled, {
    kind: 'order.refunded',
    title: `“${order.title}” was not delivered in time`,
    body: 'What you paid is on its way back to the wallet that paid.',
  })
  return cancelled
}
