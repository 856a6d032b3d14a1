import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import { moveIfDue } from './move-if-due.ts'
import type { Order } from './order.ts'
import { type Party, roleIn } from './party.ts'
import { type Action, allow, allowRole, type Before, type Role, type Status } from './states.ts'
import { lockOrder, saveOrder } from './store.ts'

/** What a party does to an order: the change itself, and what must be told or moved in the same transaction. */
export interface Act<A extends Action, S extends Status> {
  readonly orderId: OrderId
  readonly party: Party
  readonly action: A
  readonly change: (order: Order<Before<A>>, role: Role, now: Date) => Order<S>
  readonly also?: (tx: Tx, after: Order<S>, before: Order<Before<A>>, role: Role) => Promise<unknown>
  /** What follows by itself: the act then led to what that made of the order. */
  readonly onward?: (tx: Tx, after: Order<S>) => Promise<Order<S>>
}

/**
 * Every act of a party is decided under the order's row lock: whose order, whose move, which state, and only then the
 * change. Of two acts at once the second sees what the first has done, and whoever comes after the order's own time
 * finds it moved, however late the worker is.
 */
export function act<A extends Action, S extends Status>(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  { orderId, party, action, change, also, onward }: Act<A, S>,
): Promise<Order<S>> {
  return ctx.transact(async (tx) => {
    const found = await lockOrder(tx, orderId)
    const role = await roleIn(tx, found, party)
    allowRole(role, action)
    const now = ctx.clock.now()
    const order: Order = await moveIfDue(ctx, tx, found, now)
    allow(order, action)
    const before = order as Order<Before<A>>
    const after = await saveOrder(tx, order, change(before, role, now), {
      action,
      role,
      actor: party.name,
      at: now,
    })
    await also?.(tx, after, before, role)
    return (await onward?.(tx, after)) ?? after
  })
}
