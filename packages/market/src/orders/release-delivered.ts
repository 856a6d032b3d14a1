import type { Tx } from '@market/database/transact'
import type { Needs } from '../context.ts'
import { deliver } from './changes.ts'
import type { Order } from './order.ts'
import { release } from './release.ts'
import { findDeliveries, saveOrder } from './store.ts'

/**
 * A program's order whose payment the chain took away and gave again: what was delivered before counts, for who paid has
 * it. Any other order is as it was.
 */
export async function releaseDelivered(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'paid'>,
): Promise<Order<'paid' | 'completed'>> {
  if (order.paymentMethod !== 'x402' || (await findDeliveries(tx, order.id)).length === 0) return order
  const now = ctx.clock.now()
  const step = { action: 'deliver', actor: 'clock', at: now } as const
  return release(ctx, tx, await saveOrder(tx, order, deliver(order, now), step), now)
}
