import type { Needs } from '@market/core/context'
import { type JobPayloads, runSweep, startDueSweeps } from '@market/core/queue'
import { SECOND } from '@market/kernel/clock'
import type { Task } from 'graphile-worker'
import type { BeatWork } from './heartbeat.ts'
import type { EngineSettings } from './runner.ts'

/**
 * Work that is repeated at an interval, by one worker at a time. Two workers may run it at once after one of them stood still
 * for longer than a heartbeat, so each sweep can run in several workers.
 */
export interface Sweep<Ctx> {
  readonly name: string
  readonly everyMs: number
  /** What it does, for operators who meet its name in a log or a metric. */
  readonly does: string
  readonly run: (ctx: Ctx, log: SweepLog) => Promise<unknown>
}

export interface SweepLog {
  error(fields: object, message: string): void
}

interface SweepSettings<Ctx> {
  readonly ctx: Ctx & Needs<'db'>
  readonly sweeps: readonly Sweep<Ctx>[]
  readonly log: SweepLog
  readonly onFailure: (name: string) => void
  /** Tests shorten the intervals. */
  readonly maxIntervalMs?: number | undefined
}

/** How often the database is asked which sweeps are due. */
const TICK_MS = SECOND

/** Each tick notifies the workers, so this finds only jobs of dead workers and lost notifications. */
const POLL_MS = 2 * SECOND
/** Sweeps that are due together mostly end together. */
const COMPLETE_WITHIN_MS = 20
/** Every delivery notifies all engines. */
const QUIET_MS = 100

/** The engine of the sweeps: a task for each, and `run-sweep` for a run before its interval has passed. */
export function sweepEngine<Ctx>(settings: SweepSettings<Ctx>): EngineSettings {
  const { ctx, sweeps, log, onFailure } = settings
  /** A failed run is not retried by the engine, whose pauses grow: the next run is the retry. */
  const taskOf =
    ({ name, run }: Sweep<Ctx>): Task =>
    async () => {
      // fix: failed-sweep-keeps-interval
      return run(ctx, log).then(
        () => undefined,
        (error) => {
          onFailure(name)
          log.error({ err: error, sweep: name }, 'sweep failed')
        },
      )
    }
  /** A worker of another version may have enqueued it. */
  const runPrompt: Task = async (payload) => {
    const { sweep } = payload as JobPayloads['run-sweep']
    if (sweeps.some(({ name }) => name === sweep)) await runSweep(ctx, sweep)
  }
  const tasks = {
    ...Object.fromEntries(sweeps.map((sweep) => [sweep.name, taskOf(sweep)])),
    'run-sweep': runPrompt,
  }
  return {
    tasks,
    // No sweep waits for another one.
    concurrency: Object.keys(tasks).length,
    pollMs: POLL_MS,
    completeWithinMs: COMPLETE_WITHIN_MS,
    quietMs: QUIET_MS,
  }
}

/** With the heartbeat of each worker: the first one after a tick enqueues the sweeps that are due. */
export function sweepTicks<Ctx>(settings: SweepSettings<Ctx>): BeatWork {
  const { ctx, sweeps, log, onFailure, maxIntervalMs = Number.POSITIVE_INFINITY } = settings
  const tickMs = Math.min(TICK_MS, maxIntervalMs)
  const intervals = sweeps.map(({ name, everyMs }) => ({ name, everyMs: Math.min(everyMs, maxIntervalMs) }))
  return {
    everyMs: tickMs,
    run: () =>
      startDueSweeps(ctx, intervals, tickMs).catch((error) => {
        onFailure('start-sweeps')
        log.error({ err: error }, 'due sweeps were not enqueued')
      }),
  }
}
