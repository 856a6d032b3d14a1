import type { Venues } from '@market/core/ports/venue'
import { venuePayout } from '@market/earn/venue-transfers'
import { withdrawalPayout } from '@market/earn/withdrawals'
import { coldMove, feeWithdrawal, type PayoutKinds } from '@market/money/payouts'
import { orderPayout, refund, surplus } from '@market/trade/orders'

/** What each kind of payout means: what causes it, how the caps count it, and whom it is told. */
export const payoutKinds = (venues: Venues): PayoutKinds => ({
  payout: orderPayout,
  refund,
  surplus,
  fee_withdrawal: feeWithdrawal,
  move_to_cold: coldMove,
  move_to_venue: venuePayout(venues),
  earn_withdrawal: withdrawalPayout,
})
