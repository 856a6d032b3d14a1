import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { findPayoutOf, type Payout } from '@market/money/payouts'
import type { Delivery, Order } from './order.ts'
import { type Party, roleIn } from './party.ts'
import type { Role } from './states.ts'
import { findDeliveries, findOrder, lockOrder } from './store.ts'

/** Who reads an order: one of its parties, an operator, or a user who can be both. */
export type Reader = 'arbiter' | (Party & { readonly isOperator?: boolean })

export interface OrderView {
  readonly order: Order
  readonly deliveries: readonly Delivery[]
  readonly role: Role
  /** The agent's payout and the buyer's refund, once they were decided. */
  readonly payout: Payout | undefined
  readonly refund: Payout | undefined
}

export async function getOrder(ctx: Needs<'db'>, reader: Reader, orderId: OrderId): Promise<OrderView> {
  const { order, role } = await viewOrder(ctx.db, reader, orderId)
  const [deliveries, payout, refund] = await Promise.all([
    findDeliveries(ctx.db, orderId),
    findPayoutOf(ctx.db, 'payout', orderId),
    findPayoutOf(ctx.db, 'refund', orderId),
  ])
  return { order, deliveries, role, payout, refund }
}

/** The order and the reader's role. An operator who is not a party has the role of the arbiter. */
export async function viewOrder(
  db: Db,
  reader: Reader,
  orderId: OrderId,
): Promise<{ order: Order; role: Role }> {
  const order = await findOrder(db, orderId)
  return { order, role: reader === 'arbiter' ? reader : await readerRole(db, order, reader) }
}

async function readerRole(db: Db, order: Order, reader: Exclude<Reader, 'arbiter'>): Promise<Role> {
  try {
    return await roleIn(db, order, reader)
  } catch (error) {
    if (reader.isOperator === true && error instanceof ApiError) return 'arbiter'
    throw error
  }
}

/** Locks the order until the transaction ends, and returns it with the party's role. */
export async function lockOrderAs(
  tx: Tx,
  party: Party,
  orderId: OrderId,
): Promise<{ order: Order; role: Awaited<ReturnType<typeof roleIn>> }> {
  const order = await lockOrder(tx, orderId)
  return { order, role: await roleIn(tx, order, party) }
}
