export { findWalletAddress } from './store.ts'
export { createWallet, resealWallets } from './wallets.ts'
