import type { Payout, PayoutListener } from '@market/money/payouts'
import { orderPayoutListener } from '@market/trade/orders'

const ACCEPTED: readonly Payout['kind'][] = ['payout', 'refund', 'move_to_venue']

/** For tests whose payouts belong to no order: what was requested is what is due. */
export const acceptingListener: PayoutListener = {
  ...orderPayoutListener,
  termsOf: async (ctx, tx, payout) => {
    const terms = await orderPayoutListener.termsOf(ctx, tx, payout)
    if (terms !== undefined || !ACCEPTED.includes(payout.kind)) return terms
    return {
      network: payout.network,
      amount: payout.amount,
      payees: payout.payee === null ? [] : [payout.payee],
    }
  },
}
