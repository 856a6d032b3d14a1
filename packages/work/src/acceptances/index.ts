export { type AcceptClaim, acceptClaim } from './accept-claim.ts'
export { type Acceptance, dueOf } from './acceptance.ts'
export { acceptancePayment, undoRefund } from './acceptance-payment.ts'
export { findOrdersOf } from './store.ts'
