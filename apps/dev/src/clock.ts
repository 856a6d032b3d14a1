import { renameSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { LOOK_EVERY_MS } from '@market/platform/settings/clock-file'

export interface DevClock {
  /** Moves the marketplace's time ahead. Resolves with it once every program uses the new offset. */
  advance(seconds: number): Promise<Date>
}

/** Writes the moves into the file that `CLOCK_FILE` names. */
export function devClock(file: string, untilBlocksAt: (at: Date) => Promise<unknown>): DevClock {
  const lines: string[] = []
  let aheadMs = 0
  const move = () => {
    const since = Date.now()
    lines.push(`${aheadMs} ${since}`)
    const next = `${file}.next`
    writeFileSync(next, lines.join('\n'))
    // Programs reread the file when its mtime changed. Two quick writes can get the same mtime, so it is set here.
    utimesSync(next, lines.length, lines.length)
    renameSync(next, file)
    return since
  }
  move()
  return {
    advance: async (seconds) => {
      if (seconds === 0) return new Date(Date.now() + aheadMs)
      aheadMs += seconds * 1_000
      const since = move()
      // Blocks have whole seconds: one produced now could count as produced before the move.
      await Promise.all([wait(LOOK_EVERY_MS), untilBlocksAt(new Date(since))])
      return new Date(Date.now() + aheadMs)
    },
  }
}
