import type { AgentId } from '@market/kernel/ids'

/** Every job there is, with what it is told. One file in `jobs` does each. */
export interface JobPayloads {
  'carry-events': { readonly agentId: AgentId }
}

export type JobName = keyof JobPayloads

export interface Job<Name extends JobName = JobName> {
  readonly name: Name
  readonly payload: JobPayloads[Name]
  /** Of the jobs that wait under one key there is one. */
  readonly key?: string
  /** Not before so many milliseconds from now; at once when absent. */
  readonly inMs?: number
  /** Whether a job that already waits under the key keeps its time. */
  readonly keepsTime?: boolean
  /** Whether it is added again after a crash of Postgres, so that the commit need not wait for the disk. */
  readonly isAskedForAgain?: boolean
}
