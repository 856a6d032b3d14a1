export { accessTokenOf, getPurchasedOrder, getPurchasedReceipt, requireAccessToken } from './access-token.ts'
export { buyRegistration, quoteRegistration } from './buy-registration.ts'
export {
  type ContestedPurchase,
  countContests,
  listContests,
  resolveRegistration,
} from './contest/list-contests.ts'
export { releaseContested } from './contest/name-again.ts'
export { signInstructions } from './contest/signing.ts'
export { deleteVoidPurchases } from './delete-void-purchases.ts'
export { findPurchaseEnds } from './find-ends.ts'
export { hireService, payerPurposeOf } from './hire-service.ts'
export { listTrending } from './list-trending.ts'
export { type PaymentLookups, paymentLookups } from './lookups.ts'
export { FEW_SETTLEMENTS, type GasMetrics, gasMetrics, purchaseMetrics } from './metrics.ts'
export { undoRegistration } from './paid-registration.ts'
export {
  countPayable,
  type ForSale,
  findPayable,
  listPayable,
  type PayableAsked,
} from './payable-services.ts'
export { createReference } from './payment-reference.ts'
export type { NamedPayment, PaymentCredential, PaymentProblem, PurchaseResult } from './purchase.ts'
export {
  openNetworks,
  type Quote,
  REGISTRATION,
  requirementsOf,
  type Way,
} from './quote.ts'
export type { OrderExtras } from './service-request.ts'
export { purchasePayment } from './settle-purchase.ts'
