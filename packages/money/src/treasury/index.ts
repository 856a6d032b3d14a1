export { getTreasury, type Treasury } from './get-treasury.ts'
export { listPayouts, listUnexplained, listUnmatched } from './lists.ts'
export { retryPayout } from './retry-payout.ts'
export { recognizeTransfer, refundTransfer, writeOffTransfer } from './transfers.ts'
