import type { Tx } from '@market/database/transact'
import type { Needs } from '../context.ts'
import type { Recipient } from './notification.ts'
import { insertNotification, lockUnread, replaceUnread } from './store.ts'

interface NewNotification {
  readonly kind: string
  readonly title: string
  readonly body: string
  /** Replaces an unread notification of the same kind about the same subject, so that repetitions bury nothing. */
  readonly about?: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** Adds a notification in the transaction that causes it. */
export async function notify(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  recipient: Recipient,
  { kind, title, body, about, data = {} }: NewNotification,
): Promise<void> {
  const row = { id: ctx.ids.next('ntf'), kind, title, body, data, createdAt: ctx.clock.now() }
  if (about === undefined) return insertNotification(tx, recipient, row)
  await lockUnread(tx, recipient)
  if (await replaceUnread(tx, recipient, about, row)) return
  await insertNotification(tx, recipient, row, about)
}

/**
 * The owners of an agent: its user and its owner wallet. Each of them can act alone, so each is notified, also of what the
 * other one does. The user may have deleted the account, and then only the wallet reads it.
 */
export const ownerRecipients = ({
  ownerUserId,
  ownerWallet,
}: {
  readonly ownerUserId: string | null
  readonly ownerWallet: string | null
}): Recipient[] => [
  ...(ownerUserId === null ? [] : [`user:${ownerUserId}` as const]),
  ...(ownerWallet === null ? [] : [`wallet:${ownerWallet}` as const]),
]
