import type { Needs } from '@market/core/context'
import { enqueueDelivery, type JobName, type JobPayloads } from '@market/core/queue'
import { deliverEvents } from '@market/identity/webhooks'
import type { EngineSettings } from './runner.ts'

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

/** One function per job name of the queue. `run-sweep` belongs to the engine of the sweeps. */
const JOBS: { readonly [Name in Exclude<JobName, 'run-sweep'>]: JobRun<Name> } = {
  'deliver-events': deliverEventsJob,
}

/** How late a retry can be, or a job whose notification was lost; others start a few milliseconds after commit. */
const POLL_MS = 500

/** The engine of the jobs that transactions enqueue. */
export const jobEngine = (ctx: JobContext, stop: JobStop, concurrency: number): EngineSettings => ({
  tasks: Object.fromEntries(
    Object.entries(JOBS).map(([name, run]) => [
      name,
      (payload: unknown) => run(ctx, payload as JobPayloads['deliver-events'], stop),
    ]),
  ),
  concurrency,
  pollMs: POLL_MS,
})
