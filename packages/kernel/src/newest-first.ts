import { ApiError } from './api-error.ts'

/** The sort key of a row in a list that is newest first: its time, then its id. */
export interface Position {
  readonly createdAt: Date
  readonly id: string
}

/** Expects one row more than the limit, which shows whether there is a next page. */
export function pageOf<Row extends Position>(
  found: readonly Row[],
  limit: number,
): { rows: Row[]; nextCursor: string | null } {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, nextCursor: found.length > limit && last !== undefined ? writeCursor(last) : null }
}

const writeCursor = ({ createdAt, id }: Position): string => `${createdAt.getTime()}.${id}`

/** Cursors come from the caller, so they are validated. */
export function readCursor(cursor: string | undefined, prefix: string): Position | undefined {
  if (cursor === undefined) return undefined
  const [, time, kind, rest] = /^(\d{1,14})\.([a-z]+)(_\d{1,15}_[0-9a-z]{17})$/.exec(cursor) ?? []
  if (time === undefined || kind !== prefix)
    throw new ApiError('invalid', 'This cursor is not valid for this list. Start again without a cursor.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the page before' }],
    })
  return { createdAt: new Date(Number(time)), id: `${kind}${rest}` }
}
