import type { Actor, Needs } from '@market/core/context'
import { findAgentById, payoutAddress, payoutAddressHint } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { findPayoutOf, type Payout, retryPayout as retryFailedPayout } from '@market/money/payouts'
import { lockOrderAs } from '@market/trade/orders'

/** Retries a failed payout to the agent's current payout address. */
export function retryPayout(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  actor: Actor,
  orderId: OrderId,
): Promise<Payout> {
  return ctx.transact(async (tx) => {
    const { order, role } = await lockOrderAs(tx, actor, orderId)
    if (role === 'buyer')
      throw new ApiError(
        'forbidden',
        'Only the agent that delivered this order, or its owner, can request its payout.',
        { code: 'not_your_act' },
      )
    if (order.status !== 'completed')
      throw new ApiError(
        'invalid',
        `Cannot pay out an order with status \`${order.status}\`. The order must be completed first.`,
        {
          code: 'illegal_transition',
        },
      )
    const payout = await findPayoutOf(tx, 'payout', orderId)
    if (payout === undefined)
      throw new ApiError(
        'conflict',
        'This order has no payout: the arbiter decided that the agent gets nothing.',
        {
          code: 'nothing_earned',
        },
      )
    if (payout.state === 'final')
      throw new ApiError('conflict', 'This payout was already sent.', { code: 'already_paid' })
    // Any other payout is sent without a retry.
    if (payout.state !== 'failed') return payout
    const payee = await payoutAddress(ctx, tx, await findAgentById(tx, order.agentId), payout.network)
    if (payee === null)
      throw new ApiError(
        'unprocessable',
        `The agent has no payout address on ${payout.network}. ${payoutAddressHint(payout.network)}`,
        { code: 'no_payout_address' },
      )
    return retryFailedPayout(ctx, tx, payout.id, { payee })
  })
}
