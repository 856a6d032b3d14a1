import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { DAY, later } from '@market/kernel/clock'
import { notifyBuyer } from './notifications.ts'
import { markRenewalsOffered } from './store.ts'

/** How long before the end of a subscription its buyer is notified. */
const OFFERED_MS = 3 * DAY
const BATCH = 100

/** Notifies buyers of subscriptions that end soon how to renew them. A renewal is a new order, so nothing is charged by itself. */
export async function offerRenewals(ctx: Needs<'db' | 'clock' | 'ids'>): Promise<void> {
  const now = ctx.clock.now()
  await transact(ctx.db, async (tx) => {
    for (const order of await markRenewalsOffered(tx, {
      now,
      endsBefore: later(now, OFFERED_MS),
      limit: BATCH,
    }))
      await notifyBuyer(ctx, tx, order, {
        kind: 'order.renewal_offered',
        title: `“${order.title}” ends at ${order.workspaceEndsAt?.toISOString()}`,
        body: `To continue, place a new order of service ${order.listingId}. Nothing is charged unless you pay it.`,
      })
  })
}
