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
export { type Bought, countOrdersOf, countPayers, findMostBought } from './count-orders.ts'
export { createOrder, ownService, rejectOwnService } from './create-order.ts'
export { applyDueTransitions } from './deadlines.ts'
export { type Balance, getBalances, listEarnings } from './earnings.ts'
export { getOrder, getOrderAsBuyer, lockOrderAs, type OrderView, viewOrder } from './get-order.ts'
export { listAgentOrders, listOrders } from './list-orders.ts'
export { notifyBuyer, payoutRecipients } from './notifications.ts'
export { offerRenewals } from './offer-renewals.ts'
export {
  type AllFacts as OrderFacts,
  type Buyer,
  type Deliverable,
  type Delivery,
  isOpenWorkspace,
  type Order,
} from './order.ts'
export { orderPayment } from './order-payment.ts'
export { buyerOf, roleIn } from './order-role.ts'
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
  eraseOrders,
  findOrder,
  hasOpenOrders,
  lockOrder,
  owesPayment,
} from './store.ts'
export { undoPayment } from './undo-payment.ts'
export { completeQuota, lockWorkspace, returnQuota, takeQuota } from './workspace-quota.ts'
