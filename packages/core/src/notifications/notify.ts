import type { Tx } from '@market/database/transact'
import type { Needs } from '../context.ts'
import type { Recipient } from './notification.ts'
import { insertNotification } from './store.ts'

/** Adds a notification in the transaction that causes it. */
export async function notify(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  recipient: Recipient,
  notification: { kind: string; title: string; body: string; data?: Readonly<Record<string, unknown>> },
): Promise<void> {
  await insertNotification(tx, recipient, {
    id: ctx.ids.next('ntf'),
    kind: notification.kind,
    title: notification.title,
    body: notification.body,
    data: notification.data ?? {},
    createdAt: ctx.clock.now(),
  })
}

/** The recipient for an agent: its owner, else its owner wallet. */
export function ownerRecipient(agent: {
  ownerUserId: string | null
  ownerWallet: string | null
}): Recipient | undefined {
  if (agent.ownerUserId !== null) return `user:${agent.ownerUserId}`
  return agent.ownerWallet === null ? undefined : `wallet:${agent.ownerWallet}`
}
