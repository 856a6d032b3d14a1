import type { Needs } from '@market/core/context'
import { findAgentById } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { findPayoutOf, type Payout, retryPayout as tryAgain } from '@market/money/payouts'
import { type Party, roleIn } from './party.ts'
import { payoutAddress } from './payout-address.ts'
import { lockOrder } from './store.ts'

/** The agent asks for earnings that could not be sent; they go to the address it has now. */
export function retryPayout(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
): Promise<Payout> {
  return ctx.transact(async (tx) => {
    const order = await lockOrder(tx, orderId)
    const role = await roleIn(tx, order, party)
    if (role === 'buyer')
      throw new ApiError('forbidden', 'Payouts are the agent’s own', { code: 'not_your_act' })
    if (order.status !== 'completed')
      throw new ApiError('invalid', `Nothing is earned yet: this order is ${order.status}`, {
        code: 'illegal_transition',
      })
    const payout = await findPayoutOf(tx, 'payout', orderId)
    if (payout === undefined)
      throw new ApiError('conflict', 'By the decision about this order nothing was earned', {
        code: 'nothing_earned',
      })
    if (payout.state === 'final')
      throw new ApiError('conflict', 'This payout was already sent', { code: 'already_paid' })
    // It is under way by itself: asking again changes nothing.
    if (payout.state !== 'failed') return payout
    const payee = await payoutAddress(tx, await findAgentById(tx, order.agentId), payout.network)
    if (payee === null)
      throw new ApiError(
        'unprocessable',
        `There is no address to pay at on ${payout.network}: set payout_address_base (EVM) or payout_wallet (Solana) first`,
        { code: 'no_payout_address' },
      )
    return tryAgain(ctx, tx, payout.id, { payee })
  })
}
