export { findWalletAddress, findWalletsAfter } from './store.ts'
export { createWallet, resealWallets } from './wallets.ts'
