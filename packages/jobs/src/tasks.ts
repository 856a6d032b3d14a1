import type { Needs } from '@market/core/context'
import { enqueueDelivery, type JobName, type JobPayloads } from '@market/core/queue'
import { deliverEvents } from '@market/identity/webhooks'
import type { TaskList } from 'graphile-worker'

/** What jobs and sweeps use: the application without a caller. */
export type JobContext = Needs<'db' | 'clock' | 'ids' | 'vault' | 'outbound' | 'chains' | 'facilitators'>

interface JobStop {
  /** True while the process shuts down: a long job then stops early and enqueues the rest. */
  readonly stopping: () => boolean
}

type JobRun<Name extends JobName> = (
  ctx: JobContext,
  payload: JobPayloads[Name],
  stop: JobStop,
) => Promise<void>

/** Delivers an agent's due events and enqueues the next run. */
export const deliverEventsJob: JobRun<'deliver-events'> = async (ctx, { agentId }, { stopping }) => {
  const next = await deliverEvents(ctx, agentId, stopping)
  if (next !== undefined) await enqueueDelivery(ctx.db, agentId, next)
}

/** One function per job name of the queue. */
const JOBS: { readonly [Name in JobName]: JobRun<Name> } = {
  'deliver-events': deliverEventsJob,
}

export function taskList(ctx: JobContext, stop: JobStop): TaskList {
  return Object.fromEntries(
    Object.entries(JOBS).map(([name, run]) => [
      name,
      (payload: unknown) => (run as JobRun<JobName>)(ctx, payload as JobPayloads[JobName], stop),
    ]),
  )
}
