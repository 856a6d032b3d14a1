export { advanceDue, advancePayout, duePayouts } from './advance-payout.ts'
export { isAlive, rejectWhileAlive } from './alive-hold.ts'
export type { Candidate } from './authorize-payouts.ts'
export { type AliveUntil, findAliveUntil } from './batches/store.ts'
export { submitPayouts } from './batches/submit-payouts.ts'
export { findCounterDrift } from './counters/store.ts'
export { coldMove, feeWithdrawal, redirectedPayees, unmatchedTerms } from './decided-payouts.ts'
export { wakeFunded } from './due/store.ts'
export { findPayoutsOfAgent, type NetworkAmount, sumPaidOut, sumPending } from './earnings/store.ts'
export { hasUnspent } from './funding-hold.ts'
export { isCounted, setDisagreement, setShortage } from './guards/store.ts'
export { needsOperator } from './hold.ts'
export { approvePayout, requireCapped } from './limits/approve-payout.ts'
export { minPayoutOn, requireMinimum } from './limits/minimum.ts'
export { deleteSpent, saveSpent, sumMovedToVenue } from './limits/store.ts'
export { type PayoutMetrics, payoutLimitMetrics, payoutMetrics } from './metrics.ts'
export { moveToCold, requireMovable } from './move-to-cold.ts'
export type { OutgoingTransfer } from './outgoing/outgoing-transfer.ts'
export { beginReading, completeReading } from './outgoing/reading.ts'
export {
  deleteUnfinal,
  finalizeOutgoing,
  findUnexplained,
  saveOutgoing,
  sumPaidTo,
  sumUnfinalOutgoing,
} from './outgoing/store.ts'
export { lockPair, type Pair, pairTransfer, writeOffTransfer } from './outgoing/write-off-transfer.ts'
export { type Payout, type PayoutId, payoutIdOf, type Unmatched } from './payout.ts'
export { type Authorize, PAYOUTS_AT_ONCE, payoutAuthorizer } from './payout-authorizer.ts'
export type { PayoutContext } from './payout-context.ts'
export type { PayoutKinds, PayoutRule, PayoutTerms } from './payout-kind.ts'
export {
  findReturnedSurplus,
  lockOwnDeposit,
  lockUnmatched,
  recognizeRevenue,
  refundTransfer,
  returnSurplus,
} from './refund-transfer.ts'
export {
  findInFlight,
  findListedPayout,
  findListedPayouts,
  findWaitingPayouts,
  hasOpenPayouts,
  type InFlight,
  inFlight,
  type ListedPayout,
  type ListedState,
  payoutPayees,
  sumMovingToCold,
  sumMovingToVenues,
  sumWithdrawnFees,
  type WaitingPayouts,
} from './reports/store.ts'
export {
  contestPayout,
  endContestWait,
  findPayoutOf,
  isStoppable,
  isStoppablePayout,
  requestPayout,
  retryPayout,
  withdrawPayout,
} from './request-payout.ts'
export { availableFees, requireFees, withdrawFees } from './withdraw-fees.ts'
