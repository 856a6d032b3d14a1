import { ApiError } from './api-error.ts'

/** Where a row stands in a list that is newest first: by its moment, and within one moment by its id. */
export interface Position {
  readonly createdAt: Date
  readonly id: string
}

/** One row more than was asked for says whether there is a next page. */
export function pageOf<Row extends Position>(
  found: readonly Row[],
  limit: number,
): { rows: Row[]; nextCursor: string | null } {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, nextCursor: found.length > limit && last !== undefined ? writeCursor(last) : null }
}

const writeCursor = ({ createdAt, id }: Position): string => `${createdAt.getTime()}.${id}`

/** A cursor comes from outside: a forged one is rejected, never believed. */
export function readCursor(cursor: string | undefined, prefix: string): Position | undefined {
  if (cursor === undefined) return undefined
  const [, time, kind, rest] = /^(\d{1,14})\.([a-z]+)(_\d{1,15}_[0-9a-z]{17})$/.exec(cursor) ?? []
  if (time === undefined || kind !== prefix)
    throw new ApiError('invalid', 'This cursor is not one of ours. Start again without it.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the page before' }],
    })
  return { createdAt: new Date(Number(time)), id: `${kind}${rest}` }
}
