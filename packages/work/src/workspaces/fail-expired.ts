import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { lockOrder, returnQuota } from '@market/trade/orders'
import { emitGenerated } from './events.ts'
import { NOT_ANSWERED } from './generation.ts'
import { findExpired, findGeneration, saveEnded } from './store.ts'

const BATCH = 100

/**
 * Fails the generations that the agent did not answer in time, and gives their units back. Each has its own
 * transaction under the lock of its order, so several workers can run this at once.
 */
export async function failExpiredGenerations(ctx: Needs<'db' | 'clock' | 'ids'>): Promise<void> {
  const now = ctx.clock.now()
  for (const { id, orderId } of await findExpired(ctx.db, now, BATCH))
    await transact(ctx.db, async (tx) => {
      const order = await lockOrder(tx, orderId)
      const generation = await findGeneration(tx, orderId, id)
      if (generation?.status !== 'pending') return
      const failed = { ...generation, status: 'failed', failure: NOT_ANSWERED, endedAt: now } as const
      await saveEnded(tx, failed)
      await emitGenerated(ctx, tx, order, failed)
      await returnQuota(ctx, tx, order, generation.createdAt)
    })
}
