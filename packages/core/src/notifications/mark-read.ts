import type { Needs } from '../context.ts'
import type { Recipient } from './notification.ts'
import { findUnread, saveRead } from './store.ts'

/** Marks these notifications as read, or all. Ids of other recipients are ignored, so that they cannot be probed. */
export function markRead(
  ctx: Needs<'transact' | 'clock'>,
  recipients: readonly Recipient[],
  ids: readonly string[] | undefined,
): Promise<{ marked: number; unread: number }> {
  return ctx.transact(async (tx) => {
    const marked = await saveRead(tx, recipients, ids, ctx.clock.now())
    return { marked, unread: await findUnread(tx, recipients) }
  })
}
