import { expect, test } from 'vitest'
import { newestCursor } from './newest-cursor.ts'

test.each([0, 1, 99, 100, 101, 250, 12_345])(
  'newestCursor: finds the newest of %d events with few requests',
  async (count) => {
    let requests = 0
    const listEvents = async ({
      after = '0',
      limit = 20,
    }: {
      after?: string | undefined
      limit?: number | undefined
    } = {}) => {
      requests++
      const length = Math.max(0, Math.min(limit, count - Number(after)))
      const data = Array.from({ length }, (_, at) => ({
        cursor: String(Number(after) + at + 1),
        event: 'order.paid',
        order_id: '',
        data: {},
        created_at: '',
      }))
      return { data, next_cursor: data.at(-1)?.cursor ?? after }
    }
    expect(await newestCursor({ listEvents }, 'seller')).toBe(String(count))
    expect(requests).toBeLessThan(30)
  },
)
