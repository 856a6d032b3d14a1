import type { Needs } from '@market/core/context'
import type { JobName, JobPayloads } from '@market/core/queue'

/** What jobs stand on: the application without a caller. */
export type JobContext = Needs<'db' | 'clock' | 'ids' | 'vault' | 'outbound' | 'chains' | 'facilitators'>

export interface JobStop {
  /** True once the process was told to end: a long job comes to a good place and leaves the rest to others. */
  readonly stopping: () => boolean
}

export type JobRun<Name extends JobName> = (
  ctx: JobContext,
  payload: JobPayloads[Name],
  stop: JobStop,
) => Promise<void>
