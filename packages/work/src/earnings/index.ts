export { type Balance, getBalances, listEarnings } from './earnings.ts'
export { retryPayout } from './retry-payout.ts'
