export { claimTransfer, unclaimTransfer } from './claim-transfer.ts'
export { findPayment } from './find-payment.ts'
export { checkIntent, checkIntents } from './intents/check-intents.ts'
export {
  awaitedUntil,
  type Failure,
  type Intent,
  type IntentHandler,
  type Purposes,
  type Submission,
} from './intents/intent.ts'
export {
  cancelIntent,
  findIntent,
  findSubmission,
  isAwaited,
  isSubmission,
  openIntent,
} from './intents/store.ts'
export {
  escrowAccount,
  formatPurpose,
  type Purpose,
  parsePurpose,
} from './purpose.ts'
export { type Disagreement, type Reversals, recheckTransfers } from './recheck-transfers.ts'
export { inferNetwork, normalizeReference } from './reference.ts'
export {
  findFinalHeight,
  findTransfer,
  findTransferFor,
  findUnmatched,
  isPaymentFinal,
  lockTransfer,
  lockTransferFor,
  sumUnfinal,
  type UnmatchedMoney,
} from './store.ts'
export {
  type ClaimedTransfer,
  parseTransferName,
  type Transfer,
  type TransferKey,
  transferName,
} from './transfer.ts'
export { watchTreasury } from './watch-treasury.ts'
