export { claimTransfer, unclaimTransfer } from './claim-transfer.ts'
export { countUnmatched, type WaitingUnmatched } from './count-unmatched.ts'
export { findPayment, lookUpPayment } from './find-payment.ts'
export { checkIntent, checkIntents } from './intents/check-intents.ts'
export {
  ANY_AMOUNT,
  awaitedUntil,
  type Failure,
  type Intent,
  type IntentHandler,
  type Purposes,
  type Submission,
} from './intents/intent.ts'
export {
  cancelIntent,
  findSubmission,
  findWaitingIntent,
  forgetDepths,
  isAwaited,
  isSubmittedByUs,
  openIntent,
} from './intents/store.ts'
export { escrowPayers, unmatchedPayers } from './payers.ts'
export {
  escrowAccount,
  formatPurpose,
  type Purpose,
  parsePurpose,
} from './purpose.ts'
export { type ReversalHandlers, recheckTransfers } from './recheck-transfers.ts'
export { recordFinal, recordTransfers } from './record-transfers.ts'
export { inferNetwork, normalizeReference } from './reference.ts'
export { sendSettlement, sendUnmined, signSettlement } from './settlements/send-settlement.ts'
export {
  type AddressSince,
  findPaidPurposes,
  findTransfer,
  findTransferFor,
  findUsedIndexes,
  isPaymentFinal,
  lockTransfer,
  lockTransferFor,
  markReplaced,
  sumArrived,
  sumPaidBy,
  sumUnfinal,
} from './store.ts'
export {
  type ClaimedTransfer,
  parseTransferName,
  type Transfer,
  type TransferKey,
  transferName,
} from './transfer.ts'
export { findUnclaimedFrom, findUnmatched, type UnmatchedMoney } from './unmatched/store.ts'
