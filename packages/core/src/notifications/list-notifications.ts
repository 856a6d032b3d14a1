import { ApiError } from '@market/kernel/api-error'
import type { Needs } from '../context.ts'
import type { Notification, Recipient } from './notification.ts'
import { findNotifications, findUnread } from './store.ts'

interface NotificationPage {
  readonly notifications: readonly Notification[]
  readonly unread: number
  readonly nextCursor: string | null
}

/** Newest first, with the number of unread notifications on all pages. */
export async function listNotifications(
  ctx: Needs<'db'>,
  recipients: readonly Recipient[],
  page: { limit: number; cursor: string | undefined },
): Promise<NotificationPage> {
  const after = page.cursor === undefined ? undefined : parseCursor(page.cursor)
  const found = await findNotifications(ctx.db, recipients, { limit: page.limit + 1, after })
  const notifications = found.slice(0, page.limit)
  const last = notifications.at(-1)
  return {
    notifications,
    unread: await findUnread(ctx.db, recipients),
    nextCursor:
      found.length > page.limit && last !== undefined ? `${last.createdAt.getTime()}.${last.id}` : null,
  }
}

function parseCursor(cursor: string): { createdAt: Date; id: string } {
  const [, time, id] = /^(\d{1,14})\.(ntf_\d{1,15}_[0-9a-z]{17})$/.exec(cursor) ?? []
  if (time === undefined || id === undefined) {
    throw new ApiError('invalid', 'cursor is invalid. Start again without it.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the previous page' }],
    })
  }
  return { createdAt: new Date(Number(time)), id }
}
