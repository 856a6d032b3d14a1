import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { OrderId } from '@market/kernel/ids'
import { type Selectable, sql } from 'kysely'
import type { Message } from './message.ts'

type Row = Selectable<Tables['order_messages']>

/**
 * Each message gets a time at least 1 ms after the previous one of the order: messages of the same millisecond would
 * be sorted by id, which is random. The caller must have locked the order.
 */
export async function insertMessage(tx: Tx, message: Message): Promise<Message> {
  const { rows } = await sql<Row>`
    insert into order_messages (id, order_id, sender_type, sender_name, content, created_at)
    select ${message.id}, ${message.orderId}, ${message.senderType}, ${message.senderName}, ${message.content},
      greatest(${message.createdAt}::timestamptz, max(created_at) + interval '1 millisecond')
    from order_messages where order_id = ${message.orderId}
    returning *`.execute(tx)
  const [row] = rows
  assert(row !== undefined, 'an insert with returning yields a row')
  return fromRow(row)
}

export async function findMessages(db: Db, orderId: OrderId, page: NewestFirstPage): Promise<Message[]> {
  const rows = await db
    .selectFrom('order_messages')
    .selectAll()
    .where('order_id', '=', orderId)
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(fromRow)
}

const fromRow = (row: Row): Message => ({
  id: row.id,
  orderId: row.order_id as OrderId,
  senderType: row.sender_type as Message['senderType'],
  senderName: row.sender_name,
  content: row.content,
  createdAt: row.created_at,
})

const DELETED_NAME = 'Deleted user'
const DELETED_TEXT = '[deleted]'

/** Removes what the buyer of these orders wrote. The agent's messages stay. */
export async function eraseMessages(tx: Tx, orderIds: readonly OrderId[]): Promise<void> {
  if (orderIds.length === 0) return
  await tx
    .updateTable('order_messages')
    .set({ sender_name: DELETED_NAME, content: DELETED_TEXT })
    .where('order_id', 'in', [...orderIds])
    .where('sender_type', '=', 'client')
    .execute()
}
