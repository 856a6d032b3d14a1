import { readFileSync, statSync } from 'node:fs'
import type { Clock } from '@market/kernel/clock'

const LOOK_EVERY_MS = 50

/** Real time plus the milliseconds in a file. Moves the clock of a development application. */
export function clockFromFile(path: string): Clock {
  let offset = 0
  let lookedAt = 0
  let changedAt = -1
  return {
    now: () => {
      const real = Date.now()
      if (real - lookedAt >= LOOK_EVERY_MS) {
        lookedAt = real
        const { mtimeMs } = statSync(path)
        if (mtimeMs !== changedAt) {
          changedAt = mtimeMs
          offset = Number(readFileSync(path, 'utf8')) || 0
        }
      }
      return new Date(real + offset)
    },
  }
}
