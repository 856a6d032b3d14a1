import type { Db } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import type { Order } from './order.ts'
import { type Party, roleIn } from './party.ts'
import type { Role } from './states.ts'
import { findOrder } from './store.ts'

/** Somebody who asks to see an order: one of its parties, an operator, or a person who may be both. */
export type Reader = 'arbiter' | (Party & { readonly isOperator?: boolean })

/** The order and what the reader is to it. An operator who is no party reads as the arbiter they would be. */
export async function viewOrder(
  db: Db,
  reader: Reader,
  orderId: OrderId,
): Promise<{ order: Order; role: Role }> {
  const order = await findOrder(db, orderId)
  return { order, role: reader === 'arbiter' ? reader : await roleOf(db, order, reader) }
}

async function roleOf(db: Db, order: Order, reader: Exclude<Reader, 'arbiter'>): Promise<Role> {
  try {
    return await roleIn(db, order, reader)
  } catch (error) {
    if (reader.isOperator === true && error instanceof ApiError) return 'arbiter'
    throw error
  }
}
