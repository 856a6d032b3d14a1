import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { cancel } from './changes.ts'
import { tellCancelled } from './events.ts'
import { giveBack } from './give-back.ts'
import { tellBuyer } from './notices.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

/** The agent ends a dispute by giving everything back. */
export const refundOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
): Promise<Order<'cancelled'>> =>
  act(ctx, {
    orderId,
    party,
    action: 'refund',
    change: (order, _role, now) => cancel(order, now),
    also: async (tx, order, before) => {
      await giveBack(ctx, tx, order)
      await tellCancelled(ctx, tx, order, before.status)
      await tellBuyer(ctx, tx, order, {
        kind: 'order.refunded',
        title: `The agent gives back what you paid for “${order.title}”`,
        body: 'The refund is on its way to the wallet that paid.',
      })
    },
  })
