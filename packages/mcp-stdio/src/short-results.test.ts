import { expect, test } from 'vitest'
import { callUntilShort, withLimit } from './short-results.ts'

const result = (items: number, bytesEach: number) => ({
  content: [{ type: 'text' as const, text: '' }],
  structuredContent: { data: Array.from({ length: items }, () => 'x'.repeat(bytesEach)), next_cursor: 'c' },
})

/** Calls with items of this size, and the limits that were asked for. */
async function callWith(items: number, bytesEach: number, most = Number.POSITIVE_INFINITY) {
  const limits: (number | undefined)[] = []
  const shown = await callUntilShort(async (limit) => {
    limits.push(limit)
    if (limits.length > 9) throw new Error('too many calls')
    return result(Math.min(items, most === 0 ? items : (limit ?? items)), bytesEach)
  })
  return { limits, shown: shown.structuredContent?.['data'] as unknown[] }
}

test('callUntilShort: a short result is returned as it is', async () => {
  expect((await callWith(20, 100)).limits).toEqual([undefined])
})

test('callUntilShort: a long list is asked for again with fewer items', async () => {
  const { limits, shown } = await callWith(100, 2_000)
  expect(limits).toHaveLength(2)
  expect(JSON.stringify(shown).length).toBeLessThanOrEqual(64 * 1024)
  expect(shown.length).toBeGreaterThan(20)
})

test('callUntilShort: ends with one item, and when the API ignores the limit', async () => {
  expect((await callWith(3, 100_000)).shown).toHaveLength(1)
  expect((await callWith(3, 100_000, 0)).limits).toHaveLength(2)
})

test('withLimit: replaces only the limit of the request', () => {
  const request = { input: { limit: 50, search: 'a' }, wallet: undefined, payment: {} }
  expect(withLimit(request, undefined)).toBe(request)
  expect(withLimit(request, 3).input).toEqual({ limit: 3, search: 'a' })
})
