import type { Tx } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import type { Order } from './order.ts'
import { type Party, roleIn } from './party.ts'
import { lockOrder } from './store.ts'

/** The order under its lock, and what the party is to it: nothing happens to it until the transaction ends. */
export async function holdOrder(
  tx: Tx,
  party: Party,
  orderId: OrderId,
): Promise<{ order: Order; role: Awaited<ReturnType<typeof roleIn>> }> {
  const order = await lockOrder(tx, orderId)
  return { order, role: await roleIn(tx, order, party) }
}
