import { expect, test } from 'vitest'
import { ttlCache } from './ttl-cache.ts'

/** Counts how often it is asked. */
function counting() {
  let times = 0
  return { make: async () => `made ${++times}`, times: () => times }
}

test('however many ask at once, it is made once; after its time it is made again', async () => {
  let now = 0
  const keep = ttlCache<string>(30, { clock: () => now })
  const { make, times } = counting()
  const answers = await Promise.all(Array.from({ length: 20 }, () => keep('a', make)))
  expect(new Set(answers)).toEqual(new Set(['made 1']))
  expect(await keep('b', make)).toBe('made 2')
  now = 29
  expect(await keep('a', make)).toBe('made 1')
  now = 30
  expect(await keep('a', make)).toBe('made 3')
  expect(times()).toBe(3)
})

test('what failed is not kept', async () => {
  const keep = ttlCache<string>(10_000)
  await expect(keep('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await keep('a', async () => 'there')).toBe('there')
})

test('so many are kept and no more, the oldest going first', async () => {
  const keep = ttlCache<string>(10_000)
  const { make, times } = counting()
  for (let n = 0; n < 65; n++) await keep(`${n}`, make)
  await keep('64', make)
  expect(times()).toBe(65)
  await keep('0', make)
  expect(times()).toBe(66)
})
