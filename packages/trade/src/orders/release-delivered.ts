import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { contest, deliver } from './changes.ts'
import { tellDisputed } from './events.ts'
import type { Order } from './order.ts'
import { release } from './release.ts'
import { BY_CLOCK } from './states.ts'
import { findDeliveries, hasStep, saveOrder } from './store.ts'

/**
 * A program's order whose payment the chain took away and gave again: what was delivered before counts, for who paid has
 * it, and whose money it was is still for an arbiter to say. Any other order is as it was.
 */
export async function releaseDelivered(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'paid'>,
): Promise<Order<'paid' | 'disputed' | 'completed'>> {
  const { id, paymentMethod } = order
  if (paymentMethod !== 'x402' || (await findDeliveries(tx, id)).length === 0) return order
  const step = { ...BY_CLOCK, at: ctx.clock.now() } as const
  const delivered = await saveOrder(tx, order, deliver(order, step.at), {
    ...step,
    action: 'restore_delivery',
  })
  const isAsked = (await hasStep(tx, id, 'contest')) && !(await hasStep(tx, id, 'award'))
  if (!isAsked) return release(ctx, tx, delivered, step.at)
  const disputed = await saveOrder(tx, delivered, contest(delivered), {
    ...step,
    action: 'restore_dispute',
  })
  await tellDisputed(ctx, tx, disputed)
  return disputed
}
