import { expect, test } from 'vitest'
import { ttlCache } from './ttl-cache.ts'

/** Counts how often it is asked. */
function counting() {
  let times = 0
  return { make: async () => `made ${++times}`, times: () => times }
}

test('ttl cache: builds a value once for concurrent reads, and again after it expired', async () => {
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

test('ttl cache: does not store a failure', async () => {
  const keep = ttlCache<string>(10_000)
  await expect(keep('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await keep('a', async () => 'there')).toBe('there')
})

test('ttl cache: evicts the oldest entry above its maximum size', async () => {
  const keep = ttlCache<string>(10_000)
  const { make, times } = counting()
  for (let n = 0; n < 65; n++) await keep(`${n}`, make)
  await keep('64', make)
  expect(times()).toBe(65)
  await keep('0', make)
  expect(times()).toBe(66)
})

test('ttl cache: evicts the oldest entries when a value makes it too large, and does not store one that is too large alone', async () => {
  const keep = ttlCache<string>(10_000, { size: 10, sizeOf: (_, value = '') => 1 + value.length })
  let made = 0
  const read = (key: string, value: string) =>
    keep(key, async () => {
      made++
      return value
    })
  await read('a', '123')
  await read('b', '123')
  await read('a', '123')
  await read('c', '12345')
  expect(made).toBe(3)
  await read('b', '123')
  await read('c', '12345')
  expect(made).toBe(3)
  await read('a', '')
  expect(made).toBe(4)
  await read('d', '1234567890')
  await read('d', '1234567890')
  expect(made).toBe(6)
})

test('ttl cache: frees what has expired when another value is made', async () => {
  let now = 0
  const keep = ttlCache<string>(10, {
    size: 10,
    sizeOf: (_, value = '') => value.length,
    clock: () => now,
  })
  await keep('a', async () => '12345')
  await keep('b', async () => '12345')
  now = 10
  await keep('c', async () => '1234567890')
  expect(await keep('c', async () => 'again')).toBe('1234567890')
})

test('ttl cache: a value that lives 0 ms is made for each read', async () => {
  const keep = ttlCache<string>(0)
  const { make, times } = counting()
  await Promise.all([keep('a', make), keep('a', make)])
  expect(times()).toBe(2)
})
