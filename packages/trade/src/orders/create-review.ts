import type { Actor, Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { isStoppable } from '@market/money/payouts'
import { addReview, type Rating, type Review } from '../reviews/index.ts'
import type { Order } from './order.ts'
import type { OrderRole } from './states.ts'
import { lockOrderAs } from './view/get-order.ts'

export function createReview(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  actor: Actor,
  input: { readonly orderId: OrderId; readonly rating: Rating; readonly comment: string },
): Promise<Review> {
  return ctx.transact(async (tx) => {
    const { order, role } = await lockOrderAs(tx, actor, input.orderId)
    rejectIneligibleReview(order, role, await isStoppable(tx, 'payout', order.id))
    const { listingId, agentId, buyer, isPrivate } = order
    return addReview(ctx, tx, { ...input, listingId, agentId, buyer, isPrivate })
  })
}

/** Only the buyer can review, and only a completed order whose payment nobody can take back. */
export function rejectIneligibleReview(
  order: Order,
  role: OrderRole,
  isPayoutStoppable: boolean,
): asserts order is Order<'completed'> {
  if (role !== 'buyer')
    throw new ApiError('forbidden', 'Only the buyer can review this order.', { code: 'not_your_act' })
  if (order.status !== 'completed')
    throw new ApiError('invalid', `The order is ${order.status}. Review it when it is completed.`, {
      code: 'order_not_completed',
    })
  // fix: safe-payment-rated
  if (!isPaymentSafe(order, isPayoutStoppable))
    throw new ApiError(
      'conflict',
      'The payer of this order is not proven yet. Sign for the payment as `sign` of GET /api/orders/{order_id} says, or review the order when its payout is being sent.',
      { code: 'payer_not_proven' },
    )
}

/**
 * While the payer can take the payment back, a rating could outlive the money that it stands for. A payer who is not proven can
 * do that until the payout is authorized, also after `payout_waits_until`.
 */
const isPaymentSafe = ({ payerProven, contest }: Order, isPayoutStoppable: boolean): boolean =>
  contest === null && (payerProven || !isPayoutStoppable)
