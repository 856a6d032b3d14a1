import type { Db } from '@market/database/transact'
import { findOrderEnds, type OrderEnd } from '../orders/index.ts'

/** Which of the purchases ended: one that was paid with its order, any other when it became void. */
export async function findPurchaseEnds(db: Db, ids: readonly string[]): Promise<OrderEnd[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('purchases')
    .select(['id', 'state', 'result_id', 'updated_at'])
    .where('id', 'in', [...ids])
    .execute()
  const found = new Map(rows.map((row) => [row.id, row]))
  const orders = await findOrderEnds(
    db,
    rows.flatMap(({ result_id: orderId }) => orderId ?? []),
  )
  const endOf = new Map(orders.map((order) => [order.id, order]))
  return ids.flatMap((id): OrderEnd[] => {
    const purchase = found.get(id)
    // A void purchase is deleted after a day.
    if (purchase === undefined) return [{ id, end: 'unpaid', at: new Date(0) }]
    if (purchase.state === 'void') return [{ id, end: 'unpaid', at: purchase.updated_at }]
    const order = endOf.get(purchase.result_id ?? '')
    return order === undefined ? [] : [{ ...order, id }]
  })
}
