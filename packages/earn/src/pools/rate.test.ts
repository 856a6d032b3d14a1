import { DAY, earlier, HOUR } from '@market/kernel/clock'
import { expect, test } from 'vitest'
import { aprOf } from './rate.ts'

const NOW = new Date('2026-03-01T00:00:00Z')
const ago = (ms: number, price: bigint) => ({ at: earlier(NOW, ms), price })
const ONE = 1_000_000_000_000n

test.each([
  ['no prices', [], null],
  ['one price', [ago(DAY, ONE)], null],
  ['less than an hour', [ago(HOUR - 1, ONE), ago(0, 2n * ONE)], null],
  ['an hour', [ago(HOUR, ONE), ago(0, ONE + ONE / 87_600n)], 10],
  ['a gain of 5 % in a year', [ago(7 * DAY, ONE), ago(0, ONE + (ONE * 5n * 7n) / 36_500n)], 5],
  ['no change', [ago(DAY, ONE), ago(0, ONE)], 0],
  ['a loss', [ago(DAY, ONE), ago(0, ONE - ONE / 1_000n)], -36.5],
  ['a loss of everything', [ago(DAY, ONE), ago(0, 0n)], -36_500],
  ['a price of zero at first', [ago(DAY, 0n), ago(0, ONE)], null],
  ['a tiny loss is zero and not minus zero', [ago(DAY, 10n ** 30n), ago(0, 10n ** 30n - 1n)], 0],
  ['older than seven days does not count', [ago(7 * DAY + 1, ONE / 2n), ago(DAY, ONE), ago(0, ONE)], 0],
  ['all are too old', [ago(9 * DAY, ONE), ago(8 * DAY, 2n * ONE)], null],
  ['in any order', [ago(0, ONE + ONE / 1_000n), ago(HOUR, 7n), ago(DAY, ONE)], 36.5],
])('aprOf: %s', (_, points, rate) => {
  expect(aprOf(points, NOW)).toBe(rate)
})

test('aprOf: two decimals, rounded', () => {
  expect(aprOf([ago(DAY, ONE), ago(0, ONE + 123_456_789n)], NOW)).toBe(4.51)
})
