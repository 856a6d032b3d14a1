import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { removeHeartbeat } from '@market/core/queue'
import { Logger, type RunnerOptions, run, type TaskList, type WorkerEvents } from 'graphile-worker'
import { type BeatWork, startHeartbeat } from './heartbeat.ts'

interface RunnerLog {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface RunnerSettings {
  /** The connections of graphile-worker; everything else uses those of `ctx`. */
  readonly pool: NonNullable<RunnerOptions['pgPool']>
  readonly ctx: Needs<'db'>
  /** Each has its own concurrency, so that jobs of one that wait for slow endpoints do not delay those of another. */
  readonly engines: readonly EngineSettings[]
  readonly beatWork?: BeatWork
  readonly log: RunnerLog
  readonly onFailure: (task: string) => void
}

export interface EngineSettings {
  readonly tasks: TaskList
  /** Jobs that run concurrently in this process. */
  readonly concurrency: number
  /** How soon a job is found when its notification was lost, or that was enqueued for later. */
  readonly pollMs: number
  /** Jobs that end within this time are deleted together. */
  readonly completeWithinMs?: number
  /** After a search that found nothing, notifications wait for this time. The jobs of other engines cause most of them. */
  readonly quietMs?: number
}

interface Runner {
  /** Resolves after `stop`. */
  readonly ended: Promise<void>
  /** Starts no more jobs and waits for those that run. */
  stop(): Promise<void>
}

/** How long a completed job still counts as this worker's: the database is updated a moment later. */
const COMPLETION_DELAY_MS = 5_000

/** More jobs than connections are meant: a job mostly waits for an endpoint, and has no connection meanwhile. */
const POOL_WARNING = /maxPoolSize .* smaller than concurrency/

/** The pause before graphile-worker is started again. */
const RESTART_MS = 500

/** The worker pools of this process and the jobs that they received. */
interface Own {
  readonly poolIds: Set<string>
  readonly jobIds: Set<string>
}

/** Runs jobs until `stop`, with one heartbeat for all engines. */
export async function startRunner(settings: RunnerSettings): Promise<Runner> {
  const { log, ctx } = settings
  const own: Own = { poolIds: new Set(), jobIds: new Set() }
  const heartbeat = startHeartbeat(ctx, own, log, settings.beatWork)
  const engines = await Promise.all(settings.engines.map((engine) => superviseEngine(settings, engine, own)))
  await heartbeat.beat()
  const ended = Promise.all(engines.map((engine) => engine.ended)).then(() => undefined)
  return {
    ended,
    stop: async () => {
      await Promise.all(engines.map((engine) => engine.stop()))
      await ended
      await heartbeat.stop()
    },
  }
}

/**
 * graphile-worker shuts down by itself when it cannot save the result of a job, which happens while Postgres is away. Then it
 * is started again, and the jobs that it had locked are released.
 */
async function superviseEngine(settings: RunnerSettings, jobs: EngineSettings, own: Own): Promise<Runner> {
  const { log, ctx } = settings
  const stopping = new AbortController()
  let engine = await startEngine(settings, jobs, own)

  const startAgain = async () => {
    await pause(RESTART_MS, undefined, { signal: stopping.signal })
    // Without a heartbeat the jobs of the old engine are released like those of a dead worker.
    for (const id of engine.poolIds) own.poolIds.delete(id)
    for (const id of engine.jobIds) own.jobIds.delete(id)
    await removeHeartbeat(ctx, [...engine.poolIds])
    engine = await startEngine(settings, jobs, own)
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
    },
  }
}

interface Engine {
  readonly poolIds: ReadonlySet<string>
  readonly jobIds: ReadonlySet<string>
  /** Resolves when it has shut down, by itself or by `stop`. */
  readonly shutDown: Promise<void>
  stop(): Promise<void>
}

async function startEngine(
  settings: RunnerSettings,
  { tasks, concurrency, pollMs, completeWithinMs = 0, quietMs }: EngineSettings,
  own: Own,
): Promise<Engine> {
  const { log } = settings
  const poolIds = new Set<string>()
  const jobIds = new Set<string>()
  const received = (id: string) => {
    jobIds.add(id)
    own.jobIds.add(id)
  }
  const ended = (id: string) => {
    jobIds.delete(id)
    own.jobIds.delete(id)
  }
  const events: WorkerEvents = new EventEmitter()
  events.on('job:error', ({ job, error }) => {
    settings.onFailure(job.task_identifier)
    log.error({ err: error, task: job.task_identifier, job_id: job.id, attempts: job.attempts }, 'job failed')
  })
  events.on('pool:create', ({ workerPool }) => {
    poolIds.add(workerPool.id)
    own.poolIds.add(workerPool.id)
  })
  events.on('localQueue:getJobs:complete', ({ jobs }) => {
    for (const { id } of jobs) received(String(id))
  })
  events.on('localQueue:returnJobs', ({ jobs }) => {
    for (const { id } of jobs) ended(String(id))
  })
  events.on('job:complete', ({ job }) => setTimeout(() => ended(String(job.id)), COMPLETION_DELAY_MS).unref())
  const shutDown = Promise.withResolvers<void>()
  // Its own promise may never settle when it cannot save the result of a job.
  events.on('pool:gracefulShutdown', () => shutDown.resolve())
  const runner = await run({
    pgPool: settings.pool,
    taskList: tasks,
    events,
    noHandleSignals: true,
    parsedCronItems: [],
    logger: new Logger(() => (level, message) => {
      if ((level === 'error' || level === 'warning') && !POOL_WARNING.test(message)) log.warn({}, message)
    }),
    preset: {
      worker: {
        concurrentJobs: concurrency,
        pollInterval: pollMs,
        localQueue: {
          size: concurrency + 1,
          ...(quietMs !== undefined && { refetchDelay: { durationMs: quietMs } }),
        },
        completeJobBatchDelay: completeWithinMs,
        failJobBatchDelay: 0,
      },
    },
  })
  void runner.promise.then(shutDown.resolve, () => shutDown.resolve())
  return {
    poolIds,
    jobIds,
    shutDown: shutDown.promise,
    // Rejects when graphile-worker has already shut down by itself.
    stop: () => runner.stop().catch(() => undefined),
  }
}
