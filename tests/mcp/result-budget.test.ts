import type { Operation } from '@market/contract/define'
import { openPage } from '@market/handlers/envelope'
import { readInParts } from '@market/handlers/read-in-parts'
import { RESULT_BUDGET } from '@market/mcp/result-budget'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'

const LIST = {
  id: 'list',
  output: z.array(z.object({ at: z.number(), text: z.string() })),
  beside: z.object({ next_cursor: z.string().nullable() }),
} as unknown as Operation

/** Reads a list of `count` rows with texts of `length`, whose cursors are places, and records the limits of its reads. */
async function readList(count: number, length: number, input: { readonly limit: number }) {
  const limits: number[] = []
  const rows = Array.from({ length: count }, (_, at) => ({ at, text: 'x'.repeat(length) }))
  const page = openPage(LIST, RESULT_BUDGET)
  const read = async (asked: Readonly<Record<string, unknown>>) => {
    const from = Number(asked['cursor'] ?? 0)
    const limit = Number(asked['limit'])
    limits.push(limit)
    return {
      data: rows.slice(from, from + limit),
      next_cursor: (shown: number) => (from + shown < count ? String(from + shown) : null),
    }
  }
  await readInParts(read, input, RESULT_BUDGET, page)
  const body = page.response().body as { data: { at: number }[]; next_cursor: string | null }
  return { limits, places: body.data.map(({ at }) => at), next: body.next_cursor }
}

const places = (count: number) => Array.from({ length: count }, (_, at) => at)

test('a list of a tool whose rows fill the result reads one part of them (asvs V4.4)', async () => {
  expect(await readList(200, 16_000, { limit: 100 })).toEqual({ limits: [20], places: [0], next: '1' })
})

test('a list of a tool reads further parts while the result has room', async () => {
  const page = await readList(200, 10, { limit: 50 })
  expect(page).toEqual({ limits: [20, 20, 10], places: places(50), next: '50' })
})

test('a list of a tool that ends within a part has no next cursor', async () => {
  expect(await readList(25, 10, { limit: 50 })).toEqual({ limits: [20, 20], places: places(25), next: null })
})

test('a list of a tool whose result is full at the end of a part continues with the next part', async () => {
  const page = await readList(200, 1_600, { limit: 50 })
  expect(page.limits.length).toBeLessThan(3)
  expect(page.places).toEqual(places(page.places.length))
  expect(page.next).toBe(String(page.places.length))
})

test('an item counts for its bytes in the text and in structuredContent of a result', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '<', '\n', 'a', 'é', '🎨') }), (text) => {
      const json = JSON.stringify({ text })
      const inText = JSON.stringify(json.replaceAll('<', '\\u003c')).slice(1, -1)
      expect(RESULT_BUDGET.bytesOf(json, Buffer.from(json))).toBe(
        Buffer.byteLength(inText) + Buffer.byteLength(json),
      )
    }),
  )
})
