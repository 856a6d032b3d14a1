import type { OrderId } from '@market/kernel/ids'
import type { Needs } from '../context.ts'
import { act } from './act.ts'
import { deliver } from './changes.ts'
import type { Deliverable } from './delivery.ts'
import { tellBuyer } from './notices.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'
import { insertDelivery } from './store.ts'

/** The work is handed over, and the buyer's time to look at it begins. */
export const deliverOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  handed: { orderId: OrderId; items: readonly Deliverable[]; note: string | null },
): Promise<Order<'delivered'>> =>
  act(ctx, {
    orderId: handed.orderId,
    party,
    action: 'deliver',
    change: (order, _role, now) => deliver(order, now),
    also: async (tx, order) => {
      await insertDelivery(tx, order.id, { note: handed.note, items: handed.items, at: order.deliveredAt })
      await tellBuyer(ctx, tx, order, {
        kind: 'order.delivered',
        title: `“${order.title}” was delivered`,
        body: `Approve it, ask for a revision or dispute it until ${order.reviewEndsAt.toISOString()}; after that it counts as approved.`,
      })
    },
  })
