import type { JobName, JobPayloads } from '@market/core/queue'
import type { TaskList } from 'graphile-worker'
import { deliverEventsJob } from './deliver-events.ts'
import type { JobContext, JobRun, JobStop } from './job.ts'

/** Every job has a file, or the program does not compile. */
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
