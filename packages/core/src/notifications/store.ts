import { isOlder, type NewestFirstPage } from '@market/database/newest-first'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Selectable, sql } from 'kysely'
import type { Notification, Recipient } from './notification.ts'

export async function insertNotification(
  tx: Tx,
  recipient: Recipient,
  notification: Omit<Notification, 'readAt'>,
): Promise<void> {
  await tx
    .with('counted', (db) =>
      db
        .insertInto('unread_counters')
        .values({ recipient, unread: 1 })
        .onConflict((conflict) =>
          conflict.column('recipient').doUpdateSet({ unread: sql<number>`unread_counters.unread + 1` }),
        ),
    )
    .insertInto('notifications')
    .values({
      recipient,
      id: notification.id,
      kind: notification.kind,
      title: notification.title,
      body: notification.body,
      data: JSON.stringify(notification.data),
      created_at: notification.createdAt,
    })
    .execute()
}

export async function findNotifications(
  db: Db,
  recipients: readonly Recipient[],
  page: NewestFirstPage,
): Promise<Notification[]> {
  // Reads one page per recipient from the index, then sorts those: the cost does not depend on the size of the inbox.
  const { rows } = await sql<Selectable<Tables['notifications']>>`
    select page.* from unnest(${[...recipients]}::text[]) as one (recipient)
    cross join lateral (
      select * from notifications where recipient = one.recipient and ${isOlder(page)}
      order by created_at desc, id desc limit ${page.limit}
    ) as page
    order by page.created_at desc, page.id desc limit ${page.limit}`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    title: row.title,
    body: row.body,
    data: row.data,
    createdAt: row.created_at,
    readAt: row.read_at,
  }))
}

export async function findUnread(db: Db | Tx, recipients: readonly Recipient[]): Promise<number> {
  const rows = await db
    .selectFrom('unread_counters')
    .select('unread')
    .where('recipient', 'in', [...recipients])
    .execute()
  return rows.reduce((sum, row) => sum + row.unread, 0)
}

/** A larger inbox needs several requests, until `unread` is 0. */
const MAX_MARKED = 5_000

/** Marks unread notifications, all or these, and decrements each recipient's counter. */
export async function saveRead(
  tx: Tx,
  recipients: readonly Recipient[],
  ids: readonly string[] | undefined,
  at: Date,
): Promise<number> {
  // Locks the counters in a fixed order to avoid deadlocks; a concurrent `notify` waits for the lock.
  await tx
    .selectFrom('unread_counters')
    .select('recipient')
    .where('recipient', 'in', [...recipients])
    .orderBy('recipient')
    .forUpdate()
    .execute()
  const marked = await tx
    .updateTable('notifications')
    .set({ read_at: at })
    .where('id', 'in', (select) =>
      select
        .selectFrom('notifications')
        .select('id')
        .where('recipient', 'in', [...recipients])
        .where('read_at', 'is', null)
        .$if(ids !== undefined, (query) => query.where('id', 'in', [...(ids ?? [])]))
        .limit(MAX_MARKED),
    )
    .returning('recipient')
    .execute()
  const counts = Map.groupBy(marked, (row) => row.recipient)
  for (const [recipient, rows] of counts) {
    await tx
      .updateTable('unread_counters')
      .set({ unread: sql<number>`unread - ${rows.length}` })
      .where('recipient', '=', recipient)
      .execute()
  }
  return marked.length
}
