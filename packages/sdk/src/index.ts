export type { Listed } from './calls.ts'
export type { MarketOptions } from './client.ts'
export type { CallOptions, Credentials } from './connection.ts'
export { type FieldError, MarketError } from './errors.ts'
export type { BuyerEvent, EventOptions, SellerEvent } from './events.ts'
export type { Calls } from './generated/calls.ts'
export type { BuyerEvents, Generation, Operations, Order, SellerEvents } from './generated/types.ts'
export type { Hired, HireOptions, HireProgress } from './hire.ts'
export { Market } from './market.ts'
export { newestCursor } from './newest-cursor.ts'
export { evmPayer, type Payer, type SolanaPayerOptions, solanaPayer } from './payers.ts'
export type { EvmPayerAccount, PaymentNetwork, PaymentRequirement } from './payment.ts'
export {
  ReceiptError,
  type ReceiptProblem,
  type TrustedKeys,
  verifyReceipt,
} from './receipts.ts'
export type { WebhookSeller, WebhookSellOptions } from './sell.ts'
export type {
  Deliverable,
  GenerationAnswer,
  GenerationJob,
  Job,
  QuoteResult,
  SellerProgress,
  SellOptions,
  ServiceFields,
  WorkResult,
} from './sell-options.ts'
export { type EvmAccount, evmWallet, type SolanaKeypair, solanaWallet, type WalletSigner } from './wallets.ts'
export {
  verifyWebhook,
  verifyWebhookRequest,
  type Webhook,
  WebhookError,
  type WebhookEvent,
  type WebhookProblem,
} from './webhooks.ts'
