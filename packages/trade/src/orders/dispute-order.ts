import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { dispute } from './changes.ts'
import { tellDisputed } from './events.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

/** Stops the review's clock until an arbiter, the buyer or the agent ends the dispute. */
export const disputeOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  raised: { orderId: OrderId; reason: string },
): Promise<Order<'disputed'>> =>
  act(ctx, {
    orderId: raised.orderId,
    party,
    action: 'dispute',
    change: (order, _role, now) => dispute(order, raised.reason, now),
    also: (tx, order) => tellDisputed(ctx, tx, order),
  })
