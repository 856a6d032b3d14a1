export { findWalletAddress, findWalletsAfter } from './store.ts'
export { createWallet, findUnopenableWallets, resealWallets } from './wallets.ts'
