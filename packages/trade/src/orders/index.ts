export {
  acceptOrder,
  approveOrder,
  cancelOrder,
  declineRevision,
  deliverOrder,
  disputeOrder,
  quoteOrder,
  refundOrder,
  requestRevision,
  startOrder,
} from './acts.ts'
export { createOrder } from './create-order.ts'
export { applyDueTransitions } from './deadlines.ts'
export { finishPayments } from './finish-payments.ts'
export { getOrder, lockOrderAs, type OrderView, type Reader, viewOrder } from './get-order.ts'
export { listAgentOrders, listOrders } from './list-orders.ts'
export { notifyBuyer } from './notifications.ts'
export type { AllFacts as OrderFacts, Deliverable, Delivery, Order } from './order.ts'
export { payoutAddress } from './order-money.ts'
export type { Party } from './party.ts'
export { payOrder, type ReleaseContested } from './pay-order.ts'
export { orderPayoutListener } from './payout-events.ts'
export { placePaidOrder } from './place-paid-order.ts'
export { checkAnswers } from './requirement-answers.ts'
export { resolveDispute } from './resolve-dispute.ts'
export { retryPayout } from './retry-payout.ts'
export { ACTORS, type Action, type Role, type Status, TRANSITIONS } from './states.ts'
export { findOrder, isAwaited, owesPayment } from './store.ts'
export { cancelContested, undoPayment } from './undo-payment.ts'
