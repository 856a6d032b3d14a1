export { acceptClaim } from './accept-claim.ts'
export { dueOf } from './acceptance.ts'
export { acceptancePayment, undoRefund } from './acceptance-payment.ts'
export { findOrdersOf } from './store.ts'
