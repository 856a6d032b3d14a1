export { type FieldError, MarketError } from './errors.ts'
export type { BuyerEvents, Operations, Order, SellerEvents } from './generated/types.ts'
export { type CallOptions, type Credentials, Market, type MarketOptions } from './market.ts'
export { type EvmAccount, evmWallet, type SolanaKeypair, solanaWallet, type WalletSigner } from './wallets.ts'
