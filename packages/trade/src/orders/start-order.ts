import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { start } from './changes.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

export const startOrder = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
): Promise<Order<'in_progress'>> =>
  act(ctx, { orderId, party, action: 'start', change: (order) => start(order) })
