export { findKeyOrigin, findWalletAddress, findWalletsAfter } from './store.ts'
export { createWallet, findUnopenableWallets, openWallet, resealWallets } from './wallets.ts'
