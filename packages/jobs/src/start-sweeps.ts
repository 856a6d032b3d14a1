/** Work that every worker repeats at an interval. Each sweep can run in several workers at once. */
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

/** Runs each sweep at once and then at its interval. A run is skipped while the one before has not ended. Tests shorten the intervals. */
export function startSweeps<Ctx>(
  ctx: Ctx,
  sweeps: readonly Sweep<Ctx>[],
  log: SweepLog,
  onFailure: (name: string) => void,
  maxIntervalMs = Number.POSITIVE_INFINITY,
) {
  const running = new Map<string, Promise<unknown>>()
  const start = ({ name, run }: Sweep<Ctx>) => {
    if (running.has(name)) return
    const work = run(ctx, log)
      .catch((error) => {
        onFailure(name)
        log.error({ err: error, sweep: name }, 'sweep failed')
      })
      .finally(() => running.delete(name))
    running.set(name, work)
  }
  for (const sweep of sweeps) start(sweep)
  const timers = sweeps.map((sweep) =>
    setInterval(() => start(sweep), Math.min(sweep.everyMs, maxIntervalMs)),
  )
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running.values())
    },
  }
}
