import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { deliver } from './changes.ts'
import type { Deliverable } from './delivery.ts'
import { tellBuyer } from './notices.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'
import { release } from './release.ts'
import { insertDelivery } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids'>

/** Delivering again would end such an order, and with it the question whose money it is. */
const decidedByArbiter = (): ApiError =>
  new ApiError(
    'invalid',
    'An operator decides whose payment this was; write what you know into its messages',
    {
      code: 'illegal_transition',
    },
  )

/** The work is handed over, and the buyer's time to look at it begins; a program has none, so its order ends here. */
export const deliverOrder = (
  ctx: Ctx,
  party: Party,
  handed: { orderId: OrderId; items: readonly Deliverable[]; note: string | null },
): Promise<Order<'delivered' | 'completed'>> =>
  act<'deliver', 'delivered' | 'completed'>(ctx, {
    orderId: handed.orderId,
    party,
    action: 'deliver',
    change: (order, _role, now) => {
      if (order.status === 'disputed' && order.paymentMethod === 'x402') throw decidedByArbiter()
      return deliver(order, now)
    },
    onward: async (tx, order) => {
      if (order.status !== 'delivered') return order
      await insertDelivery(tx, order.id, { note: handed.note, items: handed.items, at: order.deliveredAt })
      if (order.paymentMethod === 'x402') return release(ctx, tx, order, ctx.clock.now())
      await tellBuyer(ctx, tx, order, {
        kind: 'order.delivered',
        title: `“${order.title}” was delivered`,
        body: `Approve it, ask for a revision or dispute it until ${order.reviewEndsAt.toISOString()}; after that it counts as approved.`,
      })
      return order
    },
  })
