import type { Needs } from '@market/core/context'
import { enqueueDelivery } from '@market/core/queue'
import { earlier, SECOND } from '@market/kernel/clock'
import { findAgentsWithOverdue } from './store.ts'

/** A running delivery job sends every due delivery sooner than this. */
const OVERDUE_MS = 20 * SECOND
const BATCH = 200

/** Enqueues a job for agents that have overdue deliveries, in case their job was lost. */
export async function enqueueOverdueDeliveries(ctx: Needs<'db' | 'clock'>): Promise<number> {
  const agentIds = await findAgentsWithOverdue(ctx.db, earlier(ctx.clock.now(), OVERDUE_MS), BATCH)
  for (const agentId of agentIds) {
    await enqueueDelivery(ctx.db, agentId)
  }
  return agentIds.length
}
