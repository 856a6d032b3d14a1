export { claimRefund } from './claim-refund.ts'
export { getTreasury, type Treasury } from './get-treasury.ts'
export { type ListedUnmatched, listPayouts, listUnexplained, listUnmatched } from './lists.ts'
export {
  checkCapped,
  checkColdMove,
  checkPairing,
  checkRecognition,
  checkRedirection,
  checkRefund,
  checkWithdrawal,
  executeCapped,
  executeColdMove,
  executePairing,
  executeRecognition,
  executeRedirection,
  executeRefund,
  executeWithdrawal,
  type TreasurySettings,
} from './proposals.ts'
export { retryPayout } from './retry-payout.ts'
export { refundTransfer, writeOffTransfer } from './transfers.ts'
export { parseTransferId, parseUnmatchedId } from './unmatched-id.ts'
