import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId, OrderId } from '@market/kernel/ids'
import { type RawBuilder, sql } from 'kysely'
import type { Deliverable, Order } from './order.ts'
import { fromRow, selectOrders } from './row.ts'
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
  const rows = await selectOrders(db)
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

/** A list shows no more of a text: it can have 100 KB. */
const EXCERPT_LENGTH = 280

/** A deliverable in SQL, with the beginning of its text only. */
export const excerptOf = (item: RawBuilder<unknown>) => sql`
  case when ${item} ? 'content' then jsonb_set(${item}, '{content}', to_jsonb(left(${item}->>'content', ${sql.lit(EXCERPT_LENGTH)})))
  else ${item} end`

/** The items of the newest delivery of each order, as excerpts. A workspace that was only answered has none. */
export async function findNewestItems(
  db: Db | Tx,
  orderIds: readonly OrderId[],
): Promise<ReadonlyMap<OrderId, readonly Deliverable[]>> {
  const { rows } = await sql<{ id: OrderId; items: readonly Deliverable[] }>`
    select one.id, delivery.items from unnest(${[...orderIds]}::text[]) as one (id) cross join lateral (
      select (
        select jsonb_agg(${excerptOf(sql`item`)} order by position)
        from jsonb_array_elements(order_deliveries.items) with ordinality as listed (item, position)
      ) as items
      from order_deliveries where order_id = one.id order by n desc limit 1
    ) as delivery`.execute(db)
  return new Map(rows.map(({ id, items }) => [id, items]))
}
