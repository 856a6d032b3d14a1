import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import type { Delivery } from './delivery.ts'
import type { Order } from './order.ts'
import type { Role } from './states.ts'
import { findDeliveries } from './store.ts'
import { type Reader, viewOrder } from './view-order.ts'

export interface OrderView {
  readonly order: Order
  readonly deliveries: readonly Delivery[]
  readonly role: Role
  /** What the agent gets, and what the buyer gets back, once either was decided. */
  readonly payout: Payout | undefined
  readonly refund: Payout | undefined
}

/** An order as one of its parties sees it, or an operator. */
export async function getOrder(ctx: Needs<'db'>, reader: Reader, orderId: OrderId): Promise<OrderView> {
  const { order, role } = await viewOrder(ctx.db, reader, orderId)
  const [deliveries, payout, refund] = await Promise.all([
    findDeliveries(ctx.db, orderId),
    findPayoutOf(ctx.db, 'payout', orderId),
    findPayoutOf(ctx.db, 'refund', orderId),
  ])
  return { order, deliveries, role, payout, refund }
}
