import { EventEmitter } from 'node:events'
import type { Needs } from '@market/core/context'
import { Logger, type RunnerOptions, run, type TaskList, type WorkerEvents } from 'graphile-worker'
import { keepHeartbeat } from './heartbeat.ts'

interface RunnerLog {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface RunnerSettings {
  /** The engine's own connections, and the application's for everything else. */
  readonly pool: NonNullable<RunnerOptions['pgPool']>
  readonly ctx: Needs<'db'>
  readonly tasks: TaskList
  /** How many jobs run at once in this process. */
  readonly concurrency: number
  readonly log: RunnerLog
  readonly onFailure: (task: string) => void
}

interface Runner {
  /** Resolves when the engine was stopped; fails as soon as it gives up by itself. */
  readonly ended: Promise<void>
  /** Takes no more jobs, waits for those that run, and ends. */
  stop(): Promise<void>
}

/** A job that nobody announced is found within this; announced ones start some milliseconds after their commit. */
const POLL_MS = 250

/** So long a job that is done still counts as known. */
const TOLD_WITHIN_MS = 5_000

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
  // That it is done is told to the database a moment later.
  events.on('job:complete', ({ job }) =>
    setTimeout(() => jobIds.delete(String(job.id)), TOLD_WITHIN_MS).unref(),
  )
  let stopping = false
  const gaveUp = Promise.withResolvers<never>()
  // It gives up when it cannot write down how a job ended: it takes no more, and may never say that it has ended.
  events.on('pool:gracefulShutdown', () => {
    if (!stopping) gaveUp.reject(new Error('The job engine gave up; the warnings before this say why'))
  })
  const heartbeat = keepHeartbeat(settings.ctx, { poolIds, jobIds }, log)
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
    ended: Promise.race([gaveUp.promise, runner.promise]),
    stop: async () => {
      stopping = true
      // One that has given up says that it is stopped already.
      await runner.stop().catch(() => undefined)
      await heartbeat.stop()
    },
  }
}
