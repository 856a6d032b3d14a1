import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { removeHeartbeat } from '@market/core/queue'
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
  /** Resolves after `stop`. */
  readonly ended: Promise<void>
  /** Starts no more jobs and waits for those that run. */
  stop(): Promise<void>
}

/** How soon a job is found when its notification was lost; others start a few milliseconds after commit. */
const POLL_MS = 250

/** How long a completed job still counts as this worker's: the database is updated a moment later. */
const COMPLETION_DELAY_MS = 5_000

/** More jobs than connections are meant: a job mostly waits for an endpoint, and has no connection meanwhile. */
const POOL_WARNING = /maxPoolSize .* smaller than concurrency/

/** The pause before graphile-worker is started again. */
const RESTART_MS = 500

/**
 * Runs jobs until `stop`. graphile-worker shuts down by itself when it cannot save the result of a job, which happens while
 * Postgres is away. Then it is started again, and the jobs that it had locked are released.
 */
export async function startRunner(settings: RunnerSettings): Promise<Runner> {
  const { log, ctx } = settings
  const own = { poolIds: new Set<string>(), jobIds: new Set<string>() }
  const heartbeat = startHeartbeat(ctx, own, log)
  const stopping = new AbortController()
  let engine = await startEngine(settings, own)
  await heartbeat.beat()

  const startAgain = async () => {
    await pause(RESTART_MS, undefined, { signal: stopping.signal })
    // Without a heartbeat the jobs of the old engine are released like those of a dead worker.
    const old = [...own.poolIds]
    own.poolIds.clear()
    own.jobIds.clear()
    await removeHeartbeat(ctx, old)
    engine = await startEngine(settings, own)
  }
  const supervise = async () => {
    while (!stopping.signal.aborted) {
      await engine.shutDown
      if (stopping.signal.aborted) return
      log.warn({}, 'graphile-worker shut down by itself and is started again; see the warnings before this')
      while (!stopping.signal.aborted)
        if (
          await startAgain().then(
            () => true,
            () => false,
          )
        )
          break
    }
  }
  const ended = supervise()
  return {
    ended,
    stop: async () => {
      stopping.abort()
      await engine.stop()
      await ended
      await heartbeat.stop()
    },
  }
}

interface Engine {
  /** Resolves when it has shut down, by itself or by `stop`. */
  readonly shutDown: Promise<void>
  stop(): Promise<void>
}

async function startEngine(
  settings: RunnerSettings,
  { poolIds, jobIds }: { readonly poolIds: Set<string>; readonly jobIds: Set<string> },
): Promise<Engine> {
  const { log, concurrency } = settings
  const events: WorkerEvents = new EventEmitter()
  events.on('job:error', ({ job, error }) => {
    settings.onFailure(job.task_identifier)
    log.error({ err: error, task: job.task_identifier, job_id: job.id, attempts: job.attempts }, 'job failed')
  })
  events.on('pool:create', ({ workerPool }) => poolIds.add(workerPool.id))
  events.on('localQueue:getJobs:complete', ({ jobs }) => {
    for (const { id } of jobs) jobIds.add(String(id))
  })
  events.on('localQueue:returnJobs', ({ jobs }) => {
    for (const { id } of jobs) jobIds.delete(String(id))
  })
  events.on('job:complete', ({ job }) =>
    setTimeout(() => jobIds.delete(String(job.id)), COMPLETION_DELAY_MS).unref(),
  )
  const shutDown = Promise.withResolvers<void>()
  // Its own promise may never settle when it cannot save the result of a job.
  events.on('pool:gracefulShutdown', () => shutDown.resolve())
  const runner = await run({
    pgPool: settings.pool,
    taskList: settings.tasks,
    events,
    noHandleSignals: true,
    parsedCronItems: [],
    logger: new Logger(() => (level, message) => {
      if ((level === 'error' || level === 'warning') && !POOL_WARNING.test(message)) log.warn({}, message)
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
  void runner.promise.then(shutDown.resolve, () => shutDown.resolve())
  return {
    shutDown: shutDown.promise,
    // Rejects when graphile-worker has already shut down by itself.
    stop: () => runner.stop().catch(() => undefined),
  }
}
