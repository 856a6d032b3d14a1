import { ApiError } from '@market/kernel/api-error'

/** Where a page ended: the rank and id of its last row, and the order they count in. */
interface Position {
  readonly rank: number
  readonly id: string
}

export const writeCursor = (order: string, rank: number, id: string): string =>
  Buffer.from(JSON.stringify([order, rank, id])).toString('base64url')

/** A cursor comes from outside: a forged one is rejected, never believed. */
export function readCursor(cursor: string | undefined, order: string): Position | undefined {
  if (cursor === undefined) return undefined
  const [of, rank, id, ...more] = parse(cursor)
  const isOurs =
    of === order &&
    typeof rank === 'number' &&
    Number.isFinite(rank) &&
    typeof id === 'string' &&
    /^agt_[0-9]{1,15}_[0-9a-z]{17}$/.test(id) &&
    more.length === 0
  if (!isOurs) throw badCursor()
  return { rank, id }
}

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

export const badCursor = (): ApiError =>
  new ApiError('invalid', 'This cursor is not one of ours. Start again without it.', {
    details: [{ path: 'cursor', message: 'must be the next_cursor of the page before, with the same sort' }],
  })
