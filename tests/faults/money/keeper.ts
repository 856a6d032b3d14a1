import { setTimeout as wait } from 'node:timers/promises'

/** What a kept process must tell and take. */
interface Kept {
  readonly url: string
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<unknown>
  output(): string
}

export type Keeper = ReturnType<typeof keep>

const PAUSE_MS = 100

/** Keeps one process running as whoever runs it in production does: when it ends, however that was, it is started again. */
export function keep(start: () => Promise<Kept>) {
  const end = new AbortController()
  const lives: Kept[] = []
  const errors: string[] = []
  let now: Kept | undefined
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
