import { EventEmitter } from 'node:events'
import type { Needs } from '@market/core/context'
import { Logger, type RunnerOptions, run, type TaskList, type WorkerEvents } from 'graphile-worker'
import { startHeartbeat } from './heartbeat.ts'

interface RunnerLog {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface RunnerSettings {
  /** The connections of graphile-worker; everything else uses those of `ctx`. */
  readonly pool: NonNullable<RunnerOptions['pgPool']>
  readonly ctx: Needs<'db'>
  readonly tasks: TaskList
  /** Jobs that run concurrently in this process. */
  readonly concurrency: number
  readonly log: RunnerLog
  readonly onFailure: (task: string) => void
}

interface Runner {
  /** Resolves after `stop`; rejects when graphile-worker shuts down by itself. */
  readonly ended: Promise<void>
  /** Starts no more jobs and waits for those that run. */
  stop(): Promise<void>
}

/** How soon a job is found when its notification was lost; others start a few milliseconds after commit. */
const POLL_MS = 250

/** How long a completed job still counts as this worker's: the database is updated a moment later. */
const COMPLETION_DELAY_MS = 5_000

export async function startRunner(settings: RunnerSettings): Promise<Runner> {
  const { log, concurrency } = settings
  const events: WorkerEvents = new EventEmitter()
  events.on('job:error', ({ job, error }) => {
    settings.onFailure(job.task_identifier)
    log.error({ err: error, task: job.task_identifier, job_id: job.id, attempts: job.attempts }, 'job failed')
  })
  const poolIds = new Set<string>()
  events.on('pool:create', ({ workerPool }) => poolIds.add(workerPool.id))
  const jobIds = new Set<string>()
  events.on('localQueue:getJobs:complete', ({ jobs }) => {
    for (const { id } of jobs) jobIds.add(String(id))
  })
  events.on('localQueue:returnJobs', ({ jobs }) => {
    for (const { id } of jobs) jobIds.delete(String(id))
  })
  events.on('job:complete', ({ job }) =>
    setTimeout(() => jobIds.delete(String(job.id)), COMPLETION_DELAY_MS).unref(),
  )
  let stopping = false
  const shutDown = Promise.withResolvers<never>()
  // It can be rejected before the caller has `ended` to await: that must not end the process as an unhandled rejection.
  shutDown.promise.catch(() => undefined)
  // graphile-worker shuts down by itself when it cannot save the result of a job, and its promise may never settle.
  events.on('pool:gracefulShutdown', () => {
    if (!stopping)
      shutDown.reject(new Error('graphile-worker shut down by itself; see the warnings before this'))
  })
  const heartbeat = startHeartbeat(settings.ctx, { poolIds, jobIds }, log)
  const runner = await run({
    pgPool: settings.pool,
    taskList: settings.tasks,
    events,
    noHandleSignals: true,
    parsedCronItems: [],
    logger: new Logger(() => (level, message) => {
      if (level === 'error' || level === 'warning') log.warn({ level }, message)
    }),
    preset: {
      worker: {
        concurrentJobs: concurrency,
        pollInterval: POLL_MS,
        localQueue: { size: concurrency + 1 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  })
  await heartbeat.beat()
  return {
    ended: Promise.race([shutDown.promise, runner.promise]),
    stop: async () => {
      stopping = true
      // Rejects when graphile-worker has already shut down by itself.
      await runner.stop().catch(() => undefined)
      await heartbeat.stop()
    },
  }
}
