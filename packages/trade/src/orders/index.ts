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
  type Bought,
  countOrdersOf,
  countPayers,
  type Dispute,
  findDisputes,
  findMostBought,
  findOrderEnds,
  hasPaidOrder,
  type OrderEnd,
  sumInEscrow,
} from './count-orders.ts'
export { createOrder, ownService, rejectOwnService, termsOf } from './create-order.ts'
export { createReview, rejectIneligibleReview } from './create-review.ts'
export { applyDueTransitions } from './deadlines.ts'
export { emitOrderCreated } from './events.ts'
export { notifyBuyer, payoutRecipients } from './notifications.ts'
export { offerRenewals } from './offer-renewals.ts'
export {
  type Buyer,
  type Deliverable,
  type Delivery,
  isOpenWorkspace,
  type Order,
  type StoredOrder,
  storedOrder,
} from './order.ts'
export { buyerOf, roleIn } from './order-role.ts'
export { findBought } from './orders-of-buyer.ts'
export {
  confirmPayer,
  contestedOrders,
  contestOrder,
  lockNamedOrder,
  type NamedStatus,
  releasePayment,
} from './payment/contest-order.ts'
export { orderPayment, orderPurpose } from './payment/order-purpose.ts'
export { awaitSubmitted, createOrderSigned, payOrderSigned } from './payment/pay-signed.ts'
export { networkProblem, type Offered } from './payment/payable-networks.ts'
export { orderPayout, refund, surplus } from './payment/payout-rules.ts'
export { placePaidOrder } from './payment/place-paid-order.ts'
export { type PossibleAct, problemOf } from './possible-acts.ts'
export { excerptOf, findNewestItems, findPublicOrder, findPublicWork } from './public-work.ts'
export { checkAnswers } from './requirement-answers.ts'
export {
  resolveByTwo,
  resolveDispute,
  type Verdict,
} from './resolve-dispute.ts'
export { ACTORS, type Action, type OrderRole, type Status, TRANSITIONS } from './states.ts'
export {
  eraseOrders,
  findOrder,
  findOrdersOfBounties,
  hasOpenOrders,
  lockOrder,
  owesPayment,
} from './store.ts'
export { getOrder, getOrderAsBuyer, lockOrderAs, type OrderView, viewOrder } from './view/get-order.ts'
export { listAgentOrders, listOrders, type OrderPage } from './view/list-orders.ts'
export { getReceipt, getReceiptAsBuyer, type ReceiptView } from './view/receipt.ts'
export { sharesOf } from './view/shares.ts'
export type { TimelineEntry } from './view/timeline.ts'
export { completeQuota, lockWorkspace, returnQuota, takeQuota } from './workspace-quota.ts'
