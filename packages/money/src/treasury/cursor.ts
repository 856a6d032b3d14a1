import { ApiError } from '@market/kernel/api-error'

/** Where a row stands in a list that is oldest first: by its moment, and within one moment by its name. */
export interface Position {
  readonly at: Date
  readonly name: string
}

export interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** One row more than was asked for says whether there is a next page. */
export function pageOf<Row>(
  found: readonly Row[],
  limit: number,
  positionOf: (row: Row) => Position,
): { rows: Row[]; nextCursor: string | null } {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, nextCursor: found.length > limit && last !== undefined ? write(positionOf(last)) : null }
}

const write = ({ at, name }: Position): string => `${at.getTime()}.${name}`

/** A cursor comes from outside: a forged one, or one of another list, is rejected and never believed. */
export function readCursor(cursor: string | undefined, form: RegExp): Position | undefined {
  if (cursor === undefined) return undefined
  const [, time, name] = /^(\d{1,14})\.(.*)$/.exec(cursor) ?? []
  if (time === undefined || name === undefined || !form.test(name))
    throw new ApiError('invalid', 'This cursor is not one of ours. Start again without it.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the page before' }],
    })
  return { at: new Date(Number(time)), name }
}
