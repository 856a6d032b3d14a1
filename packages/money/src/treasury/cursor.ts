import { ApiError } from '@market/kernel/api-error'

/** The position of a row in a list that is oldest first: its time, then its name. */
export interface Position {
  readonly at: Date
  readonly name: string
}

export interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** The query returns one row more than the limit; that row means that there is a next page. */
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

/** Rejects a cursor that this list did not return. */
export function readCursor(cursor: string | undefined, form: RegExp): Position | undefined {
  if (cursor === undefined) return undefined
  const [, time, name] = /^(\d{1,14})\.(.*)$/.exec(cursor) ?? []
  if (time === undefined || name === undefined || !form.test(name))
    throw new ApiError('invalid', 'The cursor is invalid. Start again without it.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the previous page' }],
    })
  return { at: new Date(Number(time)), name }
}
