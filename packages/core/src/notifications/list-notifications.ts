import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { Needs } from '../context.ts'
import type { Notification, Recipient } from './notification.ts'
import { findNotifications, findUnread } from './store.ts'

const CURSOR = newestFirst('notifications', idField('ntf'))

interface NotificationPage {
  readonly notifications: readonly Notification[]
  readonly unread: number
  readonly nextCursor: NextCursor
}

/** Newest first, with the number of unread notifications on all pages. */
export async function listNotifications(
  ctx: Needs<'db'>,
  recipients: readonly Recipient[],
  page: PageRequest,
): Promise<NotificationPage> {
  const after = CURSOR.decode(page.cursor)
  const found = await findNotifications(ctx.db, recipients, { limit: page.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, page.limit)
  return { notifications: rows, unread: await findUnread(ctx.db, recipients), nextCursor }
}

export const countUnread = (ctx: Needs<'db'>, recipients: readonly Recipient[]): Promise<number> =>
  findUnread(ctx.db, recipients)
