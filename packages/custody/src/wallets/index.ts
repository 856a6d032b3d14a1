export { cancelPendingAddress, setWithdrawAddress } from './addresses/set-withdraw-address.ts'
export { startWithdrawDelays } from './addresses/start-withdraw-delays.ts'
export type { WithdrawAddresses } from './addresses/withdraw-address.ts'
export { advanceWalletTransaction, advanceWalletTransactions } from './advance-operation.ts'
export {
  coinsOf,
  formatUnits,
  nameOfAsset,
  shownAmount,
  textOf,
  UNITS,
  unitsOf,
} from './amount.ts'
export { endWalletOperation, type OperationEnd } from './end-operation.ts'
export { type AgentHolding, findHoldings } from './find-holdings.ts'
export {
  addressOf,
  type Funding,
  getFunding,
  listWalletTransactions,
  requireMintFunds,
} from './get-funding.ts'
export {
  exportInfo,
  type Task,
  tokenUri,
  type WalletTransaction,
  wasAnsweredLater,
} from './operation.ts'
export { rejectFailed } from './reject-failed.ts'
export { awaitWalletTransaction, type RequestContext, requestWalletTransaction } from './request-operation.ts'
export { hasEnded } from './states.ts'
export { findActiveOf, findLastWalletTransaction, isMintOfWallet } from './store.ts'
export { exportKey, sendFromWallet, withdrawFromWallet } from './transfers.ts'
export {
  requireReader,
  type SignerContext,
  type WalletServices,
  type WalletTransactionListener,
} from './wallet-context.ts'
