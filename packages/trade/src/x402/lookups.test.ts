import { expect, test } from 'vitest'
import { paymentLookups } from './lookups.ts'

test('lookups: an unknown transaction is remembered for two seconds, for every caller', () => {
  let now = 0
  const lookups = paymentLookups(() => now)
  lookups('a').recordUnknown('base-mainnet:0x1')
  now = 1_999
  expect([lookups('b').isUnknown('base-mainnet:0x1'), lookups('a').isUnknown('base-mainnet:0x2')]).toEqual([
    true,
    false,
  ])
  now = 2_000
  expect(lookups('a').isUnknown('base-mainnet:0x1')).toBe(false)
})

test('lookups: remembers at most 10,000 transactions, the newest', () => {
  const lookups = paymentLookups(() => 0)('a')
  for (let n = 0; n <= 10_000; n++) lookups.recordUnknown(String(n))
  expect(['0', '1', '10000'].map(lookups.isUnknown)).toEqual([false, true, true])
})

test('lookups: an address has four waits at once, and another address has its own', () => {
  const lookups = paymentLookups()
  const ends = Array.from({ length: 4 }, () => lookups('a').startWait())
  expect(lookups('a').startWait()).toBeUndefined()
  expect(lookups('b').startWait()).toBeDefined()
  ends[0]?.()
  expect(lookups('a').startWait()).toBeDefined()
  expect(lookups('a').startWait()).toBeUndefined()
})
