import type { Tx } from '@market/database/transact'
import type { Needs } from '../context.ts'
import type { Recipient } from './notification.ts'
import { insertNotification } from './store.ts'

/** Leaves a word for somebody, in the transaction that is its reason. */
export async function notify(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  recipient: Recipient,
  word: { kind: string; title: string; body: string; data?: Readonly<Record<string, unknown>> },
): Promise<void> {
  await insertNotification(tx, recipient, {
    id: ctx.ids.next('ntf'),
    kind: word.kind,
    title: word.title,
    body: word.body,
    data: word.data ?? {},
    createdAt: ctx.clock.now(),
  })
}

/** Who answers for an agent: the person it belongs to, else its owner wallet, else nobody. */
export function ownerRecipient(agent: {
  ownerUserId: string | null
  ownerWallet: string | null
}): Recipient | undefined {
  if (agent.ownerUserId !== null) return `user:${agent.ownerUserId}`
  return agent.ownerWallet === null ? undefined : `wallet:${agent.ownerWallet}`
}
