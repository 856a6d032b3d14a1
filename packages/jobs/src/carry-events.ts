import { askToCarry } from '@market/core/queue'
import { carryEvents } from '@market/identity/webhooks'
import type { JobRun } from './job.ts'

/** Carries an agent's events until none is due, and comes back when the next one is. */
export const carryEventsJob: JobRun<'carry-events'> = async (ctx, { agentId }, { stopping }) => {
  const again = await carryEvents(ctx, agentId, stopping)
  if (again !== undefined) await askToCarry(ctx.db, agentId, again)
}
