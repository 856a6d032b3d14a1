import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId, OrderId } from '@market/kernel/ids'
import { sql } from 'kysely'
import type { Delivery, Order } from './order.ts'
import { fromRow } from './row.ts'
import { findOrderIfAny } from './store.ts'

/** Whether everyone may see what was delivered. While a payment is contested it is open whose order it is. */
const isPublicWork = (order: Order): order is Order<'completed'> =>
  order.status === 'completed' && !order.isPrivate && order.contest === null

/** The public work of an agent, newest first, without the given orders. `isPublicWork` in SQL. */
export async function findPublicWork(
  db: Db,
  { agentId, except }: { readonly agentId: AgentId; readonly except: readonly OrderId[] },
  page: NewestFirstPage,
): Promise<Order<'completed'>[]> {
  const rows = await db
    .selectFrom('orders')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('status', '=', 'completed')
    .where(sql<boolean>`not is_private`)
    .where('contested_at', 'is', null)
    .where(sql<boolean>`id <> all(${[...except]}::text[])`)
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(fromRow).filter(isPublicWork)
}

/** The order, when it is public work of the agent. */
export async function findPublicOrder(
  db: Db | Tx,
  agentId: AgentId,
  id: string,
): Promise<Order<'completed'> | undefined> {
  const order = await findOrderIfAny(db, id)
  return order !== undefined && order.agentId === agentId && isPublicWork(order) ? order : undefined
}

/** The newest delivery of each order. A workspace that was only answered has none. */
export async function findNewestDeliveries(
  db: Db | Tx,
  orderIds: readonly OrderId[],
): Promise<ReadonlyMap<OrderId, Delivery>> {
  const rows = await db
    .selectFrom('order_deliveries')
    .selectAll()
    .distinctOn('order_id')
    .where('order_id', 'in', orderIds.length === 0 ? [''] : [...orderIds])
    .orderBy('order_id')
    .orderBy('n', 'desc')
    .execute()
  return new Map(
    rows.map(({ order_id, n, note, items, at }) => [
      order_id as OrderId,
      { n, note, items: items as Delivery['items'], at },
    ]),
  )
}
