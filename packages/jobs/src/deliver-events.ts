import { enqueueDelivery } from '@market/core/queue'
import { deliverEvents } from '@market/identity/webhooks'
import type { JobRun } from './job.ts'

/** Delivers an agent's due events and enqueues the next run. */
export const deliverEventsJob: JobRun<'deliver-events'> = async (ctx, { agentId }, { stopping }) => {
  const next = await deliverEvents(ctx, agentId, stopping)
  if (next !== undefined) await enqueueDelivery(ctx.db, agentId, next)
}
