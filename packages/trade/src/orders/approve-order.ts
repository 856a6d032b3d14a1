import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { complete } from './changes.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'
import { settle } from './settle.ts'

export const approveOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
): Promise<Order<'completed'>> =>
  act(ctx, {
    orderId,
    party,
    action: 'approve',
    change: (order, _role, now) => complete(order, now),
    also: (tx, order) => settle(ctx, tx, order),
  })
