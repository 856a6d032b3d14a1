import { notify } from '@market/core/notifications'
import { transact } from '@market/database/transact'
import { idSource } from '@market/kernel/ids'
import type { Market } from './market.ts'

type Recipient = Parameters<typeof notify>[2]

let lastAt = 0

/** Leaves a notification for somebody, each a millisecond or more after the one before. */
export async function leaveWord(market: Market, recipient: Recipient, title: string): Promise<void> {
  lastAt = Math.max(market.now(), lastAt + 1)
  const at = new Date(lastAt)
  const clock = { now: () => at }
  const word = { kind: 'webhook.dropped', title, body: `About ${title}`, data: { about: title } }
  await transact(market.db, (tx) => notify({ clock, ids: idSource(clock) }, tx, recipient, word))
}
