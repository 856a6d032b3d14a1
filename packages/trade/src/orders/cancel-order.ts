import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { cancel, rejectEarlyCancel } from './changes.ts'
import { tellCancelled } from './events.ts'
import { giveBack } from './give-back.ts'
import { tellBuyer } from './notices.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

const WHAT_HAPPENS = {
  refunded: 'What you paid is on its way back.',
  unpaid: 'Nothing was paid. A transfer that still arrives for it goes back by itself.',
} as const

/** Ends an order before its delivery; what was paid goes back to who paid it. */
export const cancelOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
): Promise<Order<'cancelled'>> =>
  act(ctx, {
    orderId,
    party,
    action: 'cancel',
    change: (order, role, now) => {
      rejectEarlyCancel(order, role, now)
      return cancel(order, now)
    },
    also: async (tx, order, before, role) => {
      await giveBack(ctx, tx, order)
      await tellCancelled(ctx, tx, order, before.status)
      if (role === 'buyer') return
      await tellBuyer(ctx, tx, order, {
        kind: 'order.cancelled',
        title: `“${order.title}” was cancelled by the agent`,
        body: WHAT_HAPPENS[order.outcome],
      })
    },
  })
