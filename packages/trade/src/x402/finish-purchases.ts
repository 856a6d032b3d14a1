import type { Needs } from '@market/core/context'
import { earlier, SECOND } from '@market/kernel/clock'
import { settlePurchase } from './settle-purchase.ts'
import { takeSent } from './store.ts'

const BATCH = 50
const LOOK_EVERY_MS = 3 * SECOND

/** Sees payments through whose request was given up, or whose process died: who paid gets what they paid for. */
export async function finishPurchases(
  ctx: Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>,
): Promise<number> {
  const now = ctx.clock.now()
  // What cannot be looked at here is left to a process that can.
  const networks = Object.values(ctx.facilitators).map(({ network }) => network)
  const sent = await takeSent(ctx.db, networks, { now, before: earlier(now, LOOK_EVERY_MS) }, BATCH)
  const done = await Promise.allSettled(sent.map((purchase) => settlePurchase(ctx, purchase)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some payments could not be seen through')
  return sent.length
}
