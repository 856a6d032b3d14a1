import type { Actor, Needs } from '@market/core/context'
import { type Db, readAtOnce, type Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { minus, type Usdc } from '@market/kernel/money'
import { findTransferFor, type Transfer } from '@market/money/payments'
import { findPayoutOf, findReturnedSurplus, type Payout } from '@market/money/payouts'
import { type Delivery, type Order, purposeOf, storedOrder } from '../order.ts'
import { surplusSubject } from '../payment/order-money.ts'
import type { OrderRole } from '../states.ts'
import { findDeliveries, findOrder } from '../store.ts'
import { viewOrder } from './get-order.ts'
import { sharesOf } from './shares.ts'

/** Where the price went; undefined until the order ends. */
export interface Decided {
  readonly agent: Usdc
  readonly fee: Usdc
  readonly refund: Usdc
}

/** What a receipt says of an order whose payment is final. */
export interface ReceiptView {
  readonly order: Order & { readonly price: Usdc; readonly paidAt: Date }
  readonly role: OrderRole
  readonly payment: Transfer
  readonly decided: Decided | undefined
  /** Payments out of the treasury that are final. */
  readonly sent: readonly Payout[]
  /** Nothing of it changes any more. */
  readonly isFinal: boolean
  readonly delivery: Delivery | undefined
}

/** The receipt of an order as one of its parties, or an operator, gets it. */
export async function getReceipt(
  ctx: Needs<'db' | 'actor' | 'clock' | 'vault' | 'requestId'>,
  actor: Actor,
  orderId: OrderId,
): Promise<ReceiptView> {
  const { role } = await viewOrder(ctx, actor, orderId)
  return readReceipt(ctx.db, orderId, role)
}

/** As its buyer gets it, for a caller who proved in another way that the order is theirs. */
export const getReceiptAsBuyer = (ctx: Needs<'db'>, orderId: OrderId): Promise<ReceiptView> =>
  readReceipt(ctx.db, orderId, 'buyer')

/** On one snapshot, so that the amounts, the decision and the transfers belong together. */
const readReceipt = (db: Db, orderId: OrderId, role: OrderRole): Promise<ReceiptView> =>
  readAtOnce(db, async (tx) => {
    const order = await findOrder(tx, orderId)
    const payment = await findTransferFor(tx, purposeOf(order))
    const paid = requirePaid(order, payment)
    const deliveries = await findDeliveries(tx, orderId)
    const payouts = await findPayouts(tx, paid.order, paid.payment)
    return { ...receiptOf(paid.order, paid.payment, payouts), role, delivery: deliveries.at(-1) }
  })

async function findPayouts(tx: Tx, order: Order, payment: Transfer): Promise<Payout[]> {
  const found = [
    await findPayoutOf(tx, 'payout', order.id),
    await findPayoutOf(tx, 'refund', order.id),
    await findPayoutOf(tx, 'surplus', surplusSubject(order, payment.network)),
    await findReturnedSurplus(tx, payment),
  ]
  return found.filter((one) => one !== undefined)
}

function requirePaid(order: Order, payment: Transfer | undefined) {
  const { price, paidAt, payment: paidBy } = storedOrder(order)
  if (payment === undefined || price === null || paidAt === null || paidBy === null)
    throw new ApiError(
      'conflict',
      `Order ${order.id} is ${order.status} and not paid, so it has no receipt.`,
      { code: 'order_not_paid' },
    )
  if (payment.state !== 'final')
    throw new ApiError(
      'conflict',
      `The chain can still reverse the payment of order ${order.id}. Get the receipt when payment_final of the order is true.`,
      { code: 'payment_not_final' },
    )
  if (order.contest !== null)
    throw new ApiError(
      'conflict',
      `The payment of order ${order.id} is contested: another request named the same transfer. Get the receipt when that is decided.`,
      { code: 'payment_contested' },
    )
  return { order: { ...order, price, paidAt }, payment }
}

/** The pure part: what was decided, what was sent, and whether more follows. */
export function receiptOf(
  order: ReceiptView['order'],
  payment: Transfer,
  payouts: readonly Payout[],
): Omit<ReceiptView, 'role' | 'delivery'> {
  // One that was withdrawn is not sent; what replaced it is another.
  const due = payouts.filter(({ state }) => state !== 'withdrawn')
  const sent = due.filter(({ state }) => state === 'final')
  const decided = decidedOf(order)
  const isSent = (kind: Payout['kind'], amount: Usdc) =>
    amount === 0n || sent.some((one) => one.kind === kind)
  const isFinal =
    decided !== undefined &&
    isSent('payout', decided.agent) &&
    isSent('refund', decided.refund) &&
    due.length === sent.length
  return { order, payment, decided, sent, isFinal }
}

function decidedOf(order: ReceiptView['order']): Decided | undefined {
  const shares = sharesOf(order)
  if (order.agentPart === null || shares === undefined) return undefined
  if (order.status !== 'completed' && order.status !== 'cancelled') return undefined
  return { ...shares, refund: minus(order.price, order.agentPart) }
}
