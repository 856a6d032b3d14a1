export type { PaymentRequirement } from '../payment.ts'
export type {
  BrowserWallet,
  PaymentOptions,
  SignedPayment,
  UsdcTransfer,
  WalletAccount,
  WalletNetwork,
} from './browser-wallet.ts'
export { WalletChainUnknown, WalletError, WalletRejected, WalletWrongAccount } from './errors.ts'
export { watchWallets } from './watch-wallets.ts'
