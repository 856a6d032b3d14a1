import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pageOf, readCursor } from './newest-first.ts'

const row = fc.record({
  createdAt: fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
  id: fc.stringMatching(/^msg_[0-9]{1,15}_[0-9a-z]{17}$/),
})

test('a cursor identifies the last row of its page and exists only when there are more rows', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), (found) => {
      const limit = Math.max(1, found.length - 1)
      const { rows, nextCursor } = pageOf(found, limit)
      expect(rows).toEqual(found.slice(0, limit))
      expect(nextCursor === null).toBe(found.length <= limit)
      if (nextCursor !== null) expect(readCursor(nextCursor, 'msg')).toEqual(rows.at(-1))
    }),
  )
})

test('no cursor starts at the first row, and an empty page has no next cursor', () => {
  expect(readCursor(undefined, 'msg')).toBeUndefined()
  expect(pageOf([], 3)).toEqual({ rows: [], nextCursor: null })
})

test('rejects a cursor of another list and a forged one', () => {
  const id = `1_${'0'.repeat(17)}`
  const forged = [
    '',
    `1.rev_${id}`,
    `1.msg_${id}\n`,
    `-1.msg_${id}`,
    `1e9.msg_${id}`,
    `.msg_${id}`,
    `1.msg_1`,
  ]
  for (const cursor of [...forged, `${'9'.repeat(15)}.msg_${id}`, `1.msg_${id.toUpperCase()}A`])
    expect(() => readCursor(cursor, 'msg')).toThrow('not valid for this list')
  expect(() => readCursor(`1.msg_${id}`, 'msg')).not.toThrow()
})
