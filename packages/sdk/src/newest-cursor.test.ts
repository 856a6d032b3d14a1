import { expect, test } from 'vitest'
import { MarketError } from './errors.ts'
import { newestCursor } from './newest-cursor.ts'

const rejecting = (code: string, body: object) => ({
  listEvents: async () => {
    throw new MarketError('No event has this cursor.', { status: 409, code, body })
  },
})

test.each(['0', '1', '1794784877443'])(
  'newestCursor: is where the API says to continue, %s',
  async (cursor) => {
    expect(await newestCursor(rejecting('cursor_reset', { next_cursor: cursor }))).toBe(cursor)
  },
)

test('newestCursor: throws every other error', async () => {
  const failing = newestCursor(rejecting('illegal_transition', { next_cursor: '5' }))
  await expect(failing).rejects.toMatchObject({ code: 'illegal_transition' })
})
