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
export {
  confirmPayer,
  contestOrder,
  lockNamedOrder,
  type NamedStatus,
  releasePayment,
} from './contest-order.ts'
export { createOrder, ownService, rejectOwnService } from './create-order.ts'
export { applyDueTransitions } from './deadlines.ts'
export { type Balance, getBalances, listEarnings } from './earnings.ts'
export { getOrder, getOrderAsBuyer, lockOrderAs, type OrderView, viewOrder } from './get-order.ts'
export { listAgentOrders, listOrders } from './list-orders.ts'
export { notifyBuyer, payoutRecipients } from './notifications.ts'
export type { AllFacts as OrderFacts, Buyer, Deliverable, Delivery, Order } from './order.ts'
export { orderPayment } from './order-payment.ts'
export { buyerOf } from './order-role.ts'
export { payOrder, type ReleaseContested } from './pay-order.ts'
export type { Offered } from './payable-networks.ts'
export { orderPayoutListener } from './payout-listener.ts'
export { placePaidOrder } from './place-paid-order.ts'
export { checkAnswers } from './requirement-answers.ts'
export {
  checkResolution,
  executeResolution,
  resolveDispute,
  type Verdict,
} from './resolve-dispute.ts'
export { retryPayout } from './retry-payout.ts'
export { ACTORS, type Action, type OrderRole, type Status, TRANSITIONS } from './states.ts'
export {
  type Bought,
  countOrdersOf,
  countPayers,
  eraseOrders,
  findMostBought,
  findOrder,
  hasOpenOrders,
  owesPayment,
} from './store.ts'
export { undoPayment } from './undo-payment.ts'
