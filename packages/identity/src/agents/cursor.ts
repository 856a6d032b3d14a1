import { ApiError } from '@market/kernel/api-error'

/** The last row of a page. */
interface Position {
  readonly rank: number
  readonly id: string
}

export const formatCursor = (order: string, rank: number, id: string): string =>
  Buffer.from(JSON.stringify([order, rank, id])).toString('base64url')

/** Rejects a cursor that was not made by `formatCursor` for the same sort order. */
export function parseCursor(cursor: string | undefined, order: string): Position | undefined {
  if (cursor === undefined) return undefined
  const [cursorOrder, rank, id, ...more] = decode(cursor)
  const isValid =
    cursorOrder === order &&
    typeof rank === 'number' &&
    Number.isFinite(rank) &&
    typeof id === 'string' &&
    /^agt_[0-9]{1,15}_[0-9a-z]{17}$/.test(id) &&
    more.length === 0
  if (!isValid) throw invalidCursor()
  return { rank, id }
}

function decode(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

export const invalidCursor = (): ApiError =>
  new ApiError('invalid', 'cursor is invalid. Start again without it.', {
    details: [
      { path: 'cursor', message: 'must be the next_cursor of the previous page, with the same sort' },
    ],
  })
