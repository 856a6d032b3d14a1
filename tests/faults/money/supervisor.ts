import { setTimeout as wait } from 'node:timers/promises'

/** The process interface that the supervisor needs. */
interface SupervisedProcess {
  readonly url: string
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<unknown>
  output(): string
}

export type Supervisor = ReturnType<typeof supervise>

const PAUSE_MS = 100

/** Restarts a process whenever it ends, as a supervisor does in production. */
export function supervise(start: () => Promise<SupervisedProcess>) {
  const end = new AbortController()
  const lives: SupervisedProcess[] = []
  const errors: string[] = []
  let now: SupervisedProcess | undefined
  const keeping = (async () => {
    while (!end.signal.aborted) {
      try {
        const one = await start()
        lives.push(one)
        if (end.signal.aborted) one.kill('SIGKILL')
        else now = one
        await one.exited
      } catch (error) {
        // It did not come up, mostly because the database was away.
        errors.push(String(error))
        await wait(PAUSE_MS)
      }
      now = undefined
    }
  })()
  return {
    /** Undefined while it is down. */
    url: () => now?.url,
    signal: (signal: NodeJS.Signals) => now?.kill(signal),
    /** How often it was started, and all that was ever written by any of its lives. */
    lives: () => lives.length,
    /** Why it did not come up, each time it did not. */
    errors: () => errors,
    output: () => [...lives.map((one) => one.output()), ...errors].join(''),
    stop: async () => {
      end.abort()
      now?.kill('SIGKILL')
      await keeping
    },
  }
}
