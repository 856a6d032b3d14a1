import { readFileSync, statSync } from 'node:fs'
import { type Clock, later, systemClock } from '@market/kernel/clock'

/** A change of the file is noticed after this time. */
export const LOOK_EVERY_MS = 50

/** A clock whose marketplace time development can move ahead of real time. */
export interface MovableClock extends Clock {
  /** The marketplace's time when a block was produced. Blocks have real time. */
  blockTime(at: Date): Date
}

/** Real time in production, where the setting is rejected. */
export const clockFrom = ({ CLOCK_FILE }: { readonly CLOCK_FILE?: string | undefined }): MovableClock =>
  CLOCK_FILE === undefined ? { ...systemClock, blockTime: (at) => at } : clockFromFile(CLOCK_FILE)

interface Move {
  readonly offsetMs: number
  /** Blocks from this time on were produced after the move. */
  readonly since: number
}

/**
 * Adds the last offset of a file to real time. Each line is one move: `<offset in ms> <real time of the move in ms>`.
 * Without a time, block times are not shifted: tests move their chains themselves.
 */
export function clockFromFile(path: string): MovableClock {
  let moves: readonly Move[] = []
  let lookedAt = 0
  let changedAt = -1
  const read = () => {
    const real = Date.now()
    if (real - lookedAt < LOOK_EVERY_MS) return moves
    lookedAt = real
    const { mtimeMs } = statSync(path)
    if (mtimeMs !== changedAt) {
      changedAt = mtimeMs
      moves = readFileSync(path, 'utf8').trim().split('\n').map(readMove)
    }
    return moves
  }
  return {
    now: () => new Date(Date.now() + (read().at(-1)?.offsetMs ?? 0)),
    // fix: wall-time-is-real
    wallTime: systemClock.wallTime,
    blockTime: (at) => later(at, read().findLast(({ since }) => since <= at.getTime())?.offsetMs ?? 0),
  }
}

function readMove(line: string): Move {
  const [offset, since = 'Infinity'] = line.split(' ')
  return { offsetMs: Number(offset) || 0, since: Number(since) }
}
