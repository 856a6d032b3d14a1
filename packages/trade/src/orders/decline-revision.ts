import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { act } from './act.ts'
import { declineRevision as decline } from './changes.ts'
import { tellBuyer } from './notices.ts'
import type { Order } from './order.ts'
import type { Party } from './party.ts'

/** A revision beyond those in the price may be declined; the review goes on where it stood. */
export const declineRevision = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
): Promise<Order<'delivered'>> =>
  act(ctx, {
    orderId,
    party,
    action: 'decline_revision',
    change: (order, _role, now) => decline(order, now),
    also: (tx, order) =>
      tellBuyer(ctx, tx, order, {
        kind: 'order.revision_declined',
        title: `A further revision of “${order.title}” was declined`,
        body: `Approve or dispute the delivery until ${order.reviewEndsAt.toISOString()}.`,
      }),
  })
