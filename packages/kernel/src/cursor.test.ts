import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import {
  cursorAmong,
  cursorCodec,
  dateField,
  floatField,
  idField,
  integerField,
  type NextCursor,
  newestFirst,
  shortList,
  textField,
} from './cursor.ts'

const ID = 'svc_1767225600123_00123456789abcdef'
const forge = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const ranked = (list: string) =>
  cursorCodec<{ rank: number; id: string }>(list, { rank: floatField, id: idField('svc') })
const POPULAR = ranked('popular')
const MESSAGES = newestFirst('messages', idField('msg'))

const REJECTED = expect.objectContaining({
  kind: 'invalid',
  message: 'cursor is not one that this list returned. Start again without cursor.',
  extra: { details: [{ path: 'cursor', message: expect.stringMatching(/next_cursor/) }] },
})

test('decode returns what encode wrote, for any number', () => {
  const ranks = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((rank) => !Object.is(rank, -0))
  fc.assert(
    fc.property(ranks, (rank) => {
      expect(POPULAR.decode(POPULAR.encode({ rank, id: ID }))).toEqual({ rank, id: ID })
    }),
  )
})

test('decode: undefined is the first page', () => {
  expect(POPULAR.decode(undefined)).toBeUndefined()
})

const row = fc.record({
  createdAt: fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }),
  id: fc.stringMatching(/^msg_[0-9]{1,15}_[0-9a-z]{17}$/),
  content: fc.string(),
})

test('pageOf: the cursor is the position of the last row that is shown, and null when nothing follows', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 6 }), fc.integer({ min: 1, max: 6 }), (found, limit) => {
      const { rows, nextCursor } = MESSAGES.pageOf(found, limit)
      expect(rows).toEqual(found.slice(0, limit))
      for (const [at, { content: _, ...position }] of rows.entries()) {
        const cursor = nextCursor(at + 1)
        expect(cursor === null).toBe(at + 1 === found.length)
        if (cursor !== null) expect(MESSAGES.decode(cursor)).toEqual(position)
      }
      expect(nextCursor(0)).toBeNull()
    }),
  )
})

test('cursorAmong: rows that are not shown are passed over, also at the end', () => {
  const next: NextCursor = (count) => (count < 9 ? `after ${count}` : null)
  const among = cursorAmong(next, 5, [1, 3])
  expect([among(1), among(2), cursorAmong(next, 5, [])(0)]).toEqual(['after 2', 'after 5', 'after 5'])
})

test('shortList: pages contain every row once, and no page begins after the last row', () => {
  const LIST = shortList('a short list', 5)
  const all = ['a', 'b', 'c', 'd', 'e', 'f']
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const { from, to } = LIST.rangeOf({ limit: 2, cursor })
    const { rows, nextCursor } = LIST.pageOf(all.slice(from, to), 2, from)
    seen.push(...rows)
    cursor = nextCursor(rows.length) ?? undefined
  } while (cursor !== undefined)
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e'])
})

describe('decode: rejects', () => {
  test.each([
    ['a cursor of another list with the same fields', ranked('newest').encode({ rank: 1, id: ID })],
    ['an empty text', ''],
    ['a text that is not base64', '%%%'],
    ['a text that is not JSON', Buffer.from('{').toString('base64url')],
    ['null', forge(null)],
    ['an object', forge({ rank: 1, id: ID })],
    ['no list name', forge([1, ID])],
    ['a number as text', forge(['popular', '1', ID])],
    ['a missing number', forge(['popular', null, ID])],
    ['an infinite number', Buffer.from(`["popular",1e999,"${ID}"]`).toString('base64url')],
    ['an id of another kind', forge(['popular', 1, ID.replace('svc', 'ord')])],
    ['an id with a suffix', forge(['popular', 1, `${ID}' or 1=1`])],
    ['an id with a newline', forge(['popular', 1, `${ID}\n`])],
    ['an id in a list', forge(['popular', 1, [ID]])],
    ['a value too few', forge(['popular', 1])],
    ['a value too many', forge(['popular', 1, ID, 1])],
    ['another spelling of the same number', Buffer.from(`["popular",1e0,"${ID}"]`).toString('base64url')],
    ['padding', `${forge(['popular', 1, ID])}=`],
    ['characters that base64 decoders skip', `${forge(['popular', 1, ID])}!`],
    ['a long text', forge(['popular', 1, ID, 'x'.repeat(100_000)])],
  ])('%s', (_why, cursor) => {
    expect(() => POPULAR.decode(cursor)).toThrow(REJECTED)
  })

  test.each([-1, 1.5, 11, 1e300])('the integer %d when the maximum is 10', (rank) => {
    const codec = cursorCodec<{ rank: number }>('fastest', { rank: integerField(10) })
    expect(() => codec.decode(forge(['fastest', rank]))).toThrow(REJECTED)
    expect(codec.decode(forge(['fastest', 10]))).toEqual({ rank: 10 })
  })

  test.each([-1, 0.5, 253_402_300_800_000, 1e300])('the time %d, which Postgres cannot hold', (time) => {
    const codec = cursorCodec<{ at: Date }>('payouts', { at: dateField })
    expect(() => codec.decode(forge(['payouts', time]))).toThrow(REJECTED)
    expect(codec.decode(forge(['payouts', 1]))).toEqual({ at: new Date(1) })
  })

  test('a text that does not match its pattern', () => {
    const codec = cursorCodec<{ name: string }>('rows', { name: textField(/^row_\d+$/) })
    for (const name of ['', 'other_1', 'row_1; drop', 1, null])
      expect(() => codec.decode(forge(['rows', name]))).toThrow(REJECTED)
    expect(codec.decode(forge(['rows', 'row_1']))).toEqual({ name: 'row_1' })
  })
})

test('decode: returns a position or throws an ApiError for any text', () => {
  const isDecodedOrRejected = (cursor: string): boolean => {
    try {
      const position = POPULAR.decode(cursor)
      return position !== undefined && Number.isFinite(position.rank)
    } catch (error) {
      return error instanceof ApiError
    }
  }
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 400 }), isDecodedOrRejected))
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }).map(forge), isDecodedOrRejected))
  const tuples = fc.tuple(fc.constant('popular'), fc.jsonValue(), fc.jsonValue())
  fc.assert(fc.property(tuples.map(forge), isDecodedOrRejected))
})
