export { createWallet } from './create-wallet.ts'
