import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { accept } from './changes.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

/** The buyer says yes; the price is theirs for a day. */
export const acceptOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
): Promise<Order<'accepted'>> =>
  act(ctx, { orderId, party, action: 'accept', change: (order, _role, now) => accept(order, now) })
