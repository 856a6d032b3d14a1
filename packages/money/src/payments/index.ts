export { claimTransfer, unclaimTransfer } from './claim-transfer.ts'
export { countUnmatched, type WaitingUnmatched } from './count-unmatched.ts'
export { findPayment, lookUpPayment } from './find-payment.ts'
export { checkIntent, checkIntents, checkPurpose } from './intents/check-intents.ts'
export {
  ANY_AMOUNT,
  awaitedUntil,
  type Intent,
  type IntentHandler,
  type Purposes,
} from './intents/intent.ts'
export {
  cancelIntent,
  findSubmission,
  findWaitingIntent,
  forgetDepths,
  isAwaited,
  isSubmittedByUs,
  openIntent,
  waitingTransactions,
} from './intents/store.ts'
export { intentHandler } from './named/intent-handler.ts'
export { nameTransfer, ownersPayment, type ReleaseContested, underpaid } from './named/name-transfer.ts'
export { paySigned, type ReadPayment, readSigned } from './named/pay-signed.ts'
export { NamedBefore, type NamedTransaction, type Naming, type PurposeRule } from './named/purpose-rule.ts'
export { findNamed, type NamedTransfer, namedReferences } from './named/store.ts'
export { escrowPayers, unmatchedPayers } from './payers.ts'
export {
  escrowAccount,
  formatPurpose,
  type Purpose,
  type PurposeKind,
  parsePurpose,
} from './purpose.ts'
export { type ReversalHandlers, recheckTransfers } from './recheck-transfers.ts'
export { recordFinal, recordTransfers } from './record-transfers.ts'
export { inferNetwork, normalizeReference } from './reference.ts'
export { insufficientFunds, isInsufficient } from './settlements/insufficient-funds.ts'
export { hasTooManyFailed } from './settlements/payer-store.ts'
export { pollUntil } from './settlements/poll-until.ts'
export { mismatchIn, type Requirement, requirementOn, TIMEOUT_SECONDS } from './settlements/requirement.ts'
export { sendSettlement, sendUnmined } from './settlements/send-settlement.ts'
export {
  lockBalance,
  readSubmissionFacts,
  signedPaymentUsed,
  storeSubmission,
} from './settlements/submit-payment.ts'
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
