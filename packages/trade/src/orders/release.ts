import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { complete } from './changes.ts'
import type { Order } from './order.ts'
import { settle } from './settle.ts'
import { BY_CLOCK } from './states.ts'
import { saveOrder } from './store.ts'

/** Ends a delivered order without a word of its buyer: the window is over, or a program has none. */
export async function release(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'delivered'>,
  now: Date,
): Promise<Order<'completed'>> {
  const step = { ...BY_CLOCK, action: 'release', at: now } as const
  const completed = await saveOrder(tx, order, complete(order, now), step)
  await settle(ctx, tx, completed)
  return completed
}
