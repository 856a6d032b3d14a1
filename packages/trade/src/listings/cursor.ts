import { ApiError } from '@market/kernel/api-error'

/** Where a page ended: the rank and id of its last row, the order they count in, and as of when they count. */
interface Position {
  readonly rank: number
  readonly id: string
  readonly asOf: number
}

export const writeCursor = (order: string, rank: number, id: string, asOf = 0): string =>
  Buffer.from(JSON.stringify([order, rank, id, asOf])).toString('base64url')

/** A cursor comes from outside: a forged one is rejected, never believed. */
export function readCursor(cursor: string | undefined, order: string): Position | undefined {
  if (cursor === undefined) return undefined
  const [of, rank, id, asOf, ...more] = parse(cursor)
  const isOurs =
    of === order &&
    isNumber(rank) &&
    isNumber(asOf) &&
    typeof id === 'string' &&
    /^svc_[0-9]{1,15}_[0-9a-z]{17}$/.test(id) &&
    more.length === 0
  if (!isOurs) throw badCursor()
  return { rank, id, asOf }
}

const isNumber = (value: unknown): value is number => Number.isFinite(value)

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

const YEAR_10_000_MS = 253_402_300_800_000

/** A rank that is a moment. */
export function timeRank(rank: number): Date {
  if (rank < 0 || rank >= YEAR_10_000_MS) throw badCursor()
  return new Date(rank)
}

/** A rank that is a whole number, at most `most`. */
export function integerRank(rank: number, most: number): number {
  if (!Number.isInteger(rank) || rank < 0 || rank > most) throw badCursor()
  return rank
}

const badCursor = (): ApiError =>
  new ApiError('invalid', 'This cursor is not one of ours. Start again without it.', {
    details: [{ path: 'cursor', message: 'must be the next_cursor of the page before, with the same sort' }],
  })
