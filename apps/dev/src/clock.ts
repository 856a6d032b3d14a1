import { renameSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

export interface MovableClock {
  readonly file: string
  /** Moves the clock ahead and resolves with the API's time once the API uses the new offset. */
  advance(seconds: number): Promise<Date>
}

const POLL_MS = 10
const TIMEOUT_MS = 5_000

/** The API adds the offset in `file`, in milliseconds, to its clock. */
export function movableClock(file: string, apiTime: () => Promise<Date>): MovableClock {
  let aheadMs = 0
  let writes = 0
  const write = () => {
    writes += 1
    const next = `${file}.next`
    writeFileSync(next, String(aheadMs))
    // The API rereads the file when its mtime changed. Two quick writes can get the same mtime, so it is set here.
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
      const deadline = Date.now() + TIMEOUT_MS
      for (;;) {
        const now = await apiTime()
        if (now.getTime() >= target) return now
        if (Date.now() > deadline) throw new Error('The API did not read the new clock offset within 5 s')
        await wait(POLL_MS)
      }
    },
  }
}
