import type { AgentId } from '@market/kernel/ids'

/** The sweeps that a transaction can make run before their interval has passed. */
export type PromptSweep = 'advance-payouts' | 'advance-wallet-operations' | 'advance-earn-moves'

/** Every job with its payload. `packages/jobs` has a function for each. */
export interface JobPayloads {
  'deliver-events': { readonly agentId: AgentId }
  'run-sweep': { readonly sweep: PromptSweep }
}

export type JobName = keyof JobPayloads

export interface Job<Name extends JobName = JobName> {
  readonly name: Name
  readonly payload: JobPayloads[Name]
  /** At most one job waits under a key. */
  readonly key?: string
  /** The job runs at once when absent. */
  readonly delayMs?: number
  /** Whether a job that already waits under the key keeps its time. */
  readonly preserveRunAt?: boolean
  /** Whether a sweep would add the job again after a crash of Postgres, so that the commit need not wait for the disk. */
  readonly isRecoverable?: boolean
}
