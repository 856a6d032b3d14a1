export { cancelPendingAddress, setWithdrawAddress } from './addresses/set-withdraw-address.ts'
export type { WithdrawAddresses } from './addresses/withdraw-address.ts'
export { advanceOperation, advanceOperations } from './advance-operation.ts'
export { addressOf, type Funding, getFunding, listOperations, requireMintFunds } from './get-funding.ts'
export {
  exportInfo,
  type OwnerSignature,
  type Task,
  tokenUri,
  UNITS,
  unitsOf,
  type WalletOperation,
  wasAnsweredLater,
} from './operation.ts'
export { rejectFailed } from './reject-failed.ts'
export { awaitOperation, type RequestContext, requestOperation } from './request-operation.ts'
export { hasEnded } from './states.ts'
export { findLastOperation, isMintOfWallet } from './store.ts'
export { exportKey, sendFromWallet, withdrawFromWallet } from './transfers.ts'
export {
  type OperationListener,
  requireReader,
  type SignerContext,
  type WalletServices,
} from './wallet-context.ts'
