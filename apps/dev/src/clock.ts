import { renameSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

export interface MovableClock {
  readonly file: string
  /** Moves the clock ahead, and answers with the api's own time once the api has seen it. */
  advance(seconds: number): Promise<Date>
}

const LOOK_AGAIN_MS = 10
const GIVE_UP_MS = 5_000

/** Time as the api reads it from a file, which holds how many milliseconds it is ahead. */
export function movableClock(file: string, apiTime: () => Promise<Date>): MovableClock {
  let aheadMs = 0
  let writes = 0
  const write = () => {
    writes += 1
    const next = `${file}.next`
    writeFileSync(next, String(aheadMs))
    // The api looks again when the file's time differs, and the file system's clock may stand still between two writes.
    utimesSync(next, writes, writes)
    renameSync(next, file)
  }
  write()
  return {
    file,
    advance: async (seconds) => {
      aheadMs += seconds * 1_000
      const target = Date.now() + aheadMs
      write()
      const givenUpAt = Date.now() + GIVE_UP_MS
      for (;;) {
        const now = await apiTime()
        if (now.getTime() >= target) return now
        if (Date.now() > givenUpAt) throw new Error('The api did not see the clock move')
        await wait(LOOK_AGAIN_MS)
      }
    },
  }
}
