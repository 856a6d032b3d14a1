export { createWallet } from './create-wallet.ts'
export { findWalletAddress } from './find-wallet-address.ts'
export { resealWallets } from './reseal-wallets.ts'
