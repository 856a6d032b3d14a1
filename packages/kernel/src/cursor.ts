import { ApiError } from './api-error.ts'

/** One value of a cursor. `parse` returns undefined for a value that the list cannot have written. */
export interface CursorField<T> {
  readonly toJson: (value: T) => string | number
  readonly parse: (json: unknown) => T | undefined
}

/** Cursors carry times as milliseconds. Postgres reads no date above this. */
const YEAR_10_000_MS = 253_402_300_800_000

const isNumber = (json: unknown): json is number => Number.isFinite(json)

export const floatField: CursorField<number> = {
  toJson: (value) => value,
  parse: (json) => (isNumber(json) ? json : undefined),
}

/** A whole number from 0 to `max`. */
export const integerField = (max: number): CursorField<number> => ({
  toJson: (value) => value,
  parse: (json) => (isNumber(json) && Number.isInteger(json) && json >= 0 && json <= max ? json : undefined),
})

/** A time as a number, for lists that sort by either a time or a number. */
export const timestampField = integerField(YEAR_10_000_MS - 1)

export const dateField: CursorField<Date> = {
  toJson: (value) => value.getTime(),
  parse: (json) => {
    const time = timestampField.parse(json)
    return time === undefined ? undefined : new Date(time)
  },
}

export const textField = (pattern: RegExp): CursorField<string> => ({
  toJson: (value) => value,
  parse: (json) => (typeof json === 'string' && pattern.test(json) ? json : undefined),
})

/** An id as `idSource` makes it. */
export const idField = (prefix: string): CursorField<string> =>
  textField(new RegExp(`^${prefix}_[0-9]{1,15}_[0-9a-z]{17}$`))

type Fields<Position> = { readonly [Name in keyof Position]: CursorField<Position[Name]> }

/** What a list request names: how many rows, and after which. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: string | undefined
}

/**
 * The cursor after the first `count` rows of a page, or null when nothing follows them. A response ends before the last
 * row when its bytes are used up.
 */
export type NextCursor = (count: number) => string | null

/** Of a list without rows. */
export const NOTHING_FOLLOWS: NextCursor = () => null

/** Of a page some of whose rows are not shown; `shownAt` are the places of the others. */
export const cursorAmong =
  (next: NextCursor, rows: number, shownAt: readonly number[]): NextCursor =>
  (count) =>
    next(count < shownAt.length ? (shownAt[count - 1] ?? -1) + 1 : rows)

interface Page<Row> {
  readonly rows: Row[]
  readonly nextCursor: NextCursor
}

export interface CursorCodec<Position> {
  encode(position: Position): string
  /** Rejects every text that this list's `encode` does not return. */
  decode(cursor: string | undefined): Position | undefined
  /** Expects one row more than the limit, which shows whether there is a next page. */
  pageOf<Row>(found: readonly Row[], limit: number, positionOf: (row: Row) => Position): Page<Row>
}

const MAX_LENGTH = 300

/**
 * The cursor of a list: the list's name and the sort key of the last row of a page, as base64url. `fields` is the sort
 * key. The name must differ from that of every other list and sort order, so that their cursors are rejected.
 */
export function cursorCodec<Position extends object>(
  list: string,
  fields: Fields<Position>,
): CursorCodec<Position> {
  const names = Object.keys(fields) as (keyof Position & string)[]

  const encode = (position: Position): string => {
    const values = names.map((name) => fields[name].toJson(position[name]))
    return Buffer.from(JSON.stringify([list, ...values])).toString('base64url')
  }

  const parse = (cursor: string): Position | undefined => {
    if (cursor.length > MAX_LENGTH) return undefined
    const [, ...values] = parseArray(Buffer.from(cursor, 'base64url').toString('utf8'))
    const entries = names.map((name, at) => [name, fields[name].parse(values[at])] as const)
    if (entries.some(([, value]) => value === undefined)) return undefined
    const position = Object.fromEntries(entries) as Position
    // Covers another list's name, additional values, and other spellings of the same values.
    return encode(position) === cursor ? position : undefined
  }

  return {
    encode,
    decode: (cursor) => {
      if (cursor === undefined) return undefined
      const position = parse(cursor)
      if (position === undefined) throw invalidCursor()
      return position
    },
    pageOf: (found, limit, positionOf) => {
      const rows = found.slice(0, limit)
      const nextCursor = (count: number) => {
        const last = rows[count - 1]
        return count < found.length && last !== undefined ? encode(positionOf(last)) : null
      }
      return { rows, nextCursor }
    },
  }
}

function parseArray(json: string): unknown[] {
  try {
    const value: unknown = JSON.parse(json)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/** The cursor of a ranked list of at most `most` rows: how many of them came before. */
export function shortList(list: string, most: number) {
  const { encode, decode } = cursorCodec<{ at: number }>(list, { at: integerField(most) })
  return {
    /** The places of the page in the list, and one more, which shows whether there is a next page. */
    rangeOf: ({ limit, cursor }: PageRequest): { from: number; to: number } => {
      const from = decode(cursor)?.at ?? 0
      return { from, to: Math.min(from + limit + 1, most) }
    },
    pageOf: <Row>(found: readonly Row[], limit: number, from: number): Page<Row> => ({
      rows: found.slice(0, limit),
      nextCursor: (count) => (count < found.length ? encode({ at: from + count }) : null),
    }),
  }
}

const invalidCursor = (): ApiError =>
  new ApiError('invalid', 'cursor is not one that this list returned. Start again without cursor.', {
    details: [
      { path: 'cursor', message: 'must be the next_cursor of the previous page, with the same sort' },
    ],
  })

interface Created {
  readonly createdAt: Date
  readonly id: string
}

/** The cursor of a list that is newest first: by time, then by id. */
export function newestFirst(list: string, id: CursorField<string>) {
  const { decode, pageOf } = cursorCodec<Created>(list, { createdAt: dateField, id })
  return {
    decode,
    pageOf: <Row extends Created>(found: readonly Row[], limit: number): Page<Row> =>
      pageOf(found, limit, (row) => row),
  }
}
