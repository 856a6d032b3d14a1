import { ApiError } from '@market/kernel/api-error'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatCursor, parseCursor } from './cursor.ts'

const ID = 'agt_1767225600123_00123456789abcdef'
const forge = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('cursors', () => {
  test('parseCursor returns what formatCursor wrote, for any position', () => {
    const ranks = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((rank) => !Object.is(rank, -0))
    fc.assert(
      fc.property(ranks, (rank) => {
        expect(parseCursor(formatCursor('popular', rank, ID), 'popular')).toEqual({ rank, id: ID })
      }),
    )
  })

  test('parseCursor: undefined is the first page', () => {
    expect(parseCursor(undefined, 'popular')).toBeUndefined()
  })

  test.each([
    ['of another order', formatCursor('newest', 1, ID)],
    ['empty', ''],
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('{').toString('base64url')],
    ['null', forge(null)],
    ['an object', forge({ rank: 1, id: ID })],
    ['a rank of text', forge(['popular', '1', ID])],
    ['no rank', forge(['popular', null, ID])],
    ['an endless rank', Buffer.from(`["popular",1e999,"${ID}"]`).toString('base64url')],
    ['an id of another kind', forge(['popular', 1, ID.replace('agt', 'ord')])],
    ['an id with more behind it', forge(['popular', 1, `${ID}' or 1=1`])],
    ['an id with a newline', forge(['popular', 1, `${ID}\n`])],
    ['an id in a list', forge(['popular', 1, [ID]])],
    ['one part too many', forge(['popular', 1, ID, 1])],
  ])('parseCursor: rejects %s', (_why, cursor) => {
    expect(() => parseCursor(cursor, 'popular')).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })

  const isParsedOrRejected = (cursor: string): boolean => {
    try {
      const position = parseCursor(cursor, 'popular')
      return position !== undefined && Number.isFinite(position.rank)
    } catch (error) {
      return error instanceof ApiError
    }
  }

  test('parseCursor: parses or rejects any text with an ApiError', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), isParsedOrRejected))
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }).map(forge), isParsedOrRejected))
    fc.assert(
      fc.property(
        fc.tuple(fc.constant('popular'), fc.jsonValue(), fc.jsonValue()).map(forge),
        isParsedOrRejected,
      ),
    )
  })
})
