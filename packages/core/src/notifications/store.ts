import { isOlder, type NewestFirstPage } from '@market/database/newest-first'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Selectable, sql } from 'kysely'
import type { Notification, Recipient } from './notification.ts'

export async function insertNotification(
  tx: Tx,
  recipient: Recipient,
  notification: Omit<Notification, 'readAt'>,
  about?: string,
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
      about: about ?? null,
      created_at: notification.createdAt,
    })
    .execute()
}

/** Until the commit, nobody else adds or reads a notification of the recipient. */
export async function lockUnread(tx: Tx, recipient: Recipient): Promise<void> {
  await tx
    .insertInto('unread_counters')
    .values({ recipient, unread: 0 })
    .onConflict((conflict) =>
      conflict.column('recipient').doUpdateSet({ unread: sql<number>`unread_counters.unread` }),
    )
    .execute()
}

/**
 * Writes over the unread notification of this kind about the same subject. False when there is none. The id is new, so
 * that a client that read the old text does not mark this one as read.
 */
export async function replaceUnread(
  tx: Tx,
  recipient: Recipient,
  about: string,
  { id, kind, title, body, data, createdAt }: Omit<Notification, 'readAt'>,
): Promise<boolean> {
  const replaced = await tx
    .updateTable('notifications')
    .set({ id, title, body, data: JSON.stringify(data), created_at: createdAt })
    .where('recipient', '=', recipient)
    .where('kind', '=', kind)
    .where('about', '=', about)
    .where('read_at', 'is', null)
    .returning('id')
    .execute()
  return replaced.length > 0
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
  await lockCounters(tx, recipients)
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
  await uncount(tx, marked)
  return marked.length
}

/** In a fixed order to avoid deadlocks; a concurrent `notify` waits for the lock. */
async function lockCounters(tx: Tx, recipients: readonly string[]): Promise<void> {
  await tx
    .selectFrom('unread_counters')
    .select('recipient')
    .where('recipient', 'in', [...recipients])
    .orderBy('recipient')
    .forUpdate()
    .execute()
}

/** Decrements the counters of notifications that were unread. */
async function uncount(tx: Tx, wereUnread: readonly { readonly recipient: string }[]): Promise<void> {
  const counts = Map.groupBy(wereUnread, (row) => row.recipient)
  for (const [recipient, rows] of counts) {
    await tx
      .updateTable('unread_counters')
      .set({ unread: sql<number>`unread - ${rows.length}` })
      .where('recipient', '=', recipient)
      .execute()
  }
}

/**
 * Deletes at most `limit` notifications. An id begins with its time in milliseconds, so the primary key finds the oldest
 * ones. The counters are locked first, like in `saveRead`.
 */
export async function deleteNotificationsBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('notifications')
    .select(['id', 'recipient'])
    .where('id', '<', `ntf_${before.getTime()}`)
    .orderBy('id')
    .limit(limit)
    .execute()
  if (old.length === 0) return 0
  await lockCounters(tx, [...new Set(old.map(({ recipient }) => recipient))])
  const deleted = await tx
    .deleteFrom('notifications')
    .where(
      'id',
      'in',
      old.map(({ id }) => id),
    )
    .returning(['recipient', 'read_at'])
    .execute()
  await uncount(
    tx,
    deleted.filter(({ read_at }) => read_at === null),
  )
  return deleted.length
}

/** Deletes everything for one recipient. */
export async function deleteNotificationsOf(tx: Tx, recipient: Recipient): Promise<void> {
  await lockCounters(tx, [recipient])
  await tx.deleteFrom('notifications').where('recipient', '=', recipient).execute()
  await tx.deleteFrom('unread_counters').where('recipient', '=', recipient).execute()
}
