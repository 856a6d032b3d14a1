import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import { type JobPayloads, runSweep, START_SWEEPS, startSweeps } from '@market/core/queue'
import { SECOND } from '@market/kernel/clock'
import type { Task } from 'graphile-worker'
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
  readonly stopping: () => boolean
}

/** How often the database is asked which sweeps are due. */
const TICK_MS = SECOND

/** Also how late a run can begin. */
const POLL_MS = 500
/** Sweeps that are due together mostly end together. */
const COMPLETE_WITHIN_MS = 20
/** Every delivery notifies all engines. */
const QUIET_MS = 100

/**
 * The engine of the sweeps: a task for each, `run-sweep` for a run before its interval has passed, and `start-sweeps`, which
 * enqueues the sweeps that are due and itself again.
 */
export function sweepEngine<Ctx>(settings: SweepSettings<Ctx>): EngineSettings {
  const { ctx, sweeps, log, onFailure, maxIntervalMs = Number.POSITIVE_INFINITY, stopping } = settings
  const tickMs = Math.min(TICK_MS, maxIntervalMs)
  const intervals = sweeps.map(({ name, everyMs }) => ({ name, everyMs: Math.min(everyMs, maxIntervalMs) }))
  const report = (name: string, error: unknown) => {
    onFailure(name)
    log.error({ err: error, sweep: name }, 'sweep failed')
  }
  /** A failed run is not retried by the engine, whose pauses grow: the next run is the retry. */
  const taskOf =
    ({ name, run }: Sweep<Ctx>): Task =>
    async () => {
      // fix: failed-sweep-keeps-interval
      return run(ctx, log).then(
        () => undefined,
        (error) => report(name, error),
      )
    }
  const startDue: Task = async (_, { job }) => {
    // Both are the clock of the database, so that the clocks of workers need not agree.
    const { run_at: from, locked_at: now } = job
    const next = nextTick(tickMs, from, now ?? from)
    const due = dueBetween(intervals, from, next)
    for (;;) {
      try {
        return await startSweeps(ctx, due, next)
      } catch (error) {
        report(START_SWEEPS, error)
        if (stopping()) throw error
      }
      await pause(tickMs)
    }
  }
  /** A worker of another version may have enqueued it. */
  const runPrompt: Task = async (payload) => {
    const { sweep } = payload as JobPayloads['run-sweep']
    if (sweeps.some(({ name }) => name === sweep)) await runSweep(ctx, sweep)
  }
  const tasks = {
    ...Object.fromEntries(sweeps.map((sweep) => [sweep.name, taskOf(sweep)])),
    'run-sweep': runPrompt,
    [START_SWEEPS]: startDue,
  }
  return {
    tasks,
    // No sweep waits for another one.
    concurrency: Object.keys(tasks).length,
    pollMs: Math.min(POLL_MS, tickMs),
    completeWithinMs: COMPLETE_WITHIN_MS,
    quietMs: Math.min(QUIET_MS, tickMs),
  }
}

/** The next time on the grid of ticks. The grid is the same for all workers. */
const nextTick = (tickMs: number, from: Date, now: Date): Date =>
  new Date((Math.floor(Math.max(from.getTime(), now.getTime()) / tickMs) + 1) * tickMs)

/** The sweeps with a multiple of their interval in this time: those of ticks that were missed run once. */
export const dueBetween = (
  intervals: readonly { readonly name: string; readonly everyMs: number }[],
  from: Date,
  to: Date,
): string[] =>
  intervals
    .filter(({ everyMs }) => Math.ceil(from.getTime() / everyMs) * everyMs < to.getTime())
    .map(({ name }) => name)
