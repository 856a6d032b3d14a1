import { notify } from '@market/core/notifications'
import { transact } from '@market/database/transact'
import { idSource } from '@market/kernel/ids'
import { testClock } from '@market/testing/clock'
import type { Market } from './market.ts'

type Recipient = Parameters<typeof notify>[2]

let lastAt = 0

/** Creates a notification at least one millisecond after the previous one. */
export async function makeNotification(market: Market, recipient: Recipient, title: string): Promise<void> {
  lastAt = Math.max(market.now(), lastAt + 1)
  const at = new Date(lastAt)
  const clock = testClock(at)
  const notification = { kind: 'webhook.dropped', title, body: `About ${title}`, data: { about: title } }
  await transact(market.db, (tx) => notify({ clock, ids: idSource(clock) }, tx, recipient, notification))
}
