import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { revise } from './changes.ts'
import { tellRevision } from './events.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

export const requestRevision = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  asked: { orderId: OrderId; feedback: string },
): Promise<Order<'revision_requested'>> =>
  act(ctx, {
    orderId: asked.orderId,
    party,
    action: 'revision',
    change: (order, _role, now) => revise(order, asked.feedback, now),
    also: (tx, order) => tellRevision(ctx, tx, order),
  })
