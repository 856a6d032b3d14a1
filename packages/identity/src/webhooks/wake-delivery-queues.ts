import type { Needs } from '@market/core/context'
import { askToCarry } from '@market/core/queue'
import { earlier, SECOND } from '@market/kernel/clock'
import { findIdleDeliveryQueues } from './store.ts'

/** Later than any running lane leaves a delivery lying. */
const OVERDUE_MS = 20 * SECOND
const BATCH = 200

/** Asks again for lanes that lie still although something is due: no lost wake-up outlives this sweep. */
export async function wakeDeliveryQueues(ctx: Needs<'db' | 'clock'>): Promise<number> {
  const agentIds = await findIdleDeliveryQueues(ctx.db, earlier(ctx.clock.now(), OVERDUE_MS), BATCH)
  for (const agentId of agentIds) {
    await askToCarry(ctx.db, agentId)
  }
  return agentIds.length
}
