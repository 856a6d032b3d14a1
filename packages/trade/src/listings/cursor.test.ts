import { ApiError } from '@market/kernel/api-error'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { integerRank, readCursor, timeRank, writeCursor } from './cursor.ts'

const ID = 'svc_1767225600123_00123456789abcdef'
const forge = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('cursors', () => {
  test('every position comes back as it was written, to the last bit', () => {
    const ranks = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((rank) => !Object.is(rank, -0))
    fc.assert(
      fc.property(ranks, (rank) => {
        expect(readCursor(writeCursor('popular', rank, ID), 'popular')).toEqual({ rank, id: ID, asOf: 0 })
      }),
    )
  })

  test('no cursor is the beginning', () => {
    expect(readCursor(undefined, 'popular')).toBeUndefined()
  })

  test.each([
    ['of another order', writeCursor('newest', 1, ID)],
    ['empty', ''],
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('{').toString('base64url')],
    ['null', forge(null)],
    ['an object', forge({ rank: 1, id: ID })],
    ['a rank of text', forge(['popular', '1', ID, 0])],
    ['no rank', forge(['popular', null, ID, 0])],
    ['an endless rank', Buffer.from(`["popular",1e999,"${ID}",0]`).toString('base64url')],
    ['an id of another kind', forge(['popular', 1, ID.replace('svc', 'ord'), 0])],
    ['an id with more behind it', forge(['popular', 1, `${ID}' or 1=1`, 0])],
    ['an id with a newline', forge(['popular', 1, `${ID}\n`, 0])],
    ['an id in a list', forge(['popular', 1, [ID], 0])],
    ['one part too few', forge(['popular', 1, ID])],
    ['a moment of text', forge(['popular', 1, ID, '0'])],
    ['one part too many', forge(['popular', 1, ID, 0, 1])],
  ])('a forged one is rejected: %s', (_why, cursor) => {
    expect(() => readCursor(cursor, 'popular')).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })

  const rejectedOrRead = (cursor: string): boolean => {
    try {
      const position = readCursor(cursor, 'popular')
      return position !== undefined && Number.isFinite(position.rank)
    } catch (error) {
      return error instanceof ApiError
    }
  }

  test('whatever comes in, it is read or rejected, never a fault', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), rejectedOrRead))
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }).map(forge), rejectedOrRead))
    fc.assert(
      fc.property(
        fc.tuple(fc.constant('popular'), fc.jsonValue(), fc.jsonValue()).map(forge),
        rejectedOrRead,
      ),
    )
  })

  test.each([-1, 1.5, 11, 1e300])('a rank of %d is no whole number up to ten', (rank) => {
    expect(() => integerRank(rank, 10)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })

  test.each([-1, 253_402_300_800_000, 1e300])('a rank of %d is no moment Postgres could hold', (rank) => {
    expect(() => timeRank(rank)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
})
