import { enqueue } from '@market/market/queue'
import { carryEvents } from '@market/market/webhooks'
import type { JobRun } from './job.ts'

/** Carries an agent's events until none is due, and comes back when the next one is. */
export const carryEventsJob: JobRun<'carry-events'> = async (ctx, { agentId }, { stopping }) => {
  const again = await carryEvents(ctx, agentId, stopping)
  if (again === undefined) return
  await enqueue(ctx.db, {
    name: 'carry-events',
    payload: { agentId },
    // One that only watches over another's hold waits apart: it must not keep the next attempt waiting with it.
    key: again.why === 'held' ? `carry-events-held:${agentId}` : `carry-events:${agentId}`,
    inMs: again.inMs,
    keepsTime: true,
  })
}
