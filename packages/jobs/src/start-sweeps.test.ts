import { expect, test } from 'vitest'
import { dueBetween } from './start-sweeps.ts'

const at = (ms: number) => new Date(ms)
const INTERVALS = [
  { name: 'second', everyMs: 1_000 },
  { name: 'five', everyMs: 5_000 },
  { name: 'minute', everyMs: 60_000 },
]

test('a sweep is due at the multiples of its interval', () => {
  expect(dueBetween(INTERVALS, at(61_000), at(62_000))).toEqual(['second'])
  expect(dueBetween(INTERVALS, at(65_000), at(66_000))).toEqual(['second', 'five'])
  expect(dueBetween(INTERVALS, at(120_000), at(121_000))).toEqual(['second', 'five', 'minute'])
})

test('sweeps of ticks that were missed are due once', () => {
  expect(dueBetween(INTERVALS, at(116_000), at(124_000))).toEqual(['second', 'five', 'minute'])
  expect(dueBetween(INTERVALS, at(121_000), at(124_000))).toEqual(['second'])
})

test('a sweep whose interval is longer than every gap between ticks is due once for each multiple', () => {
  const gaps = [1_000, 2_500, 1, 700, 4_999, 1_000]
  const begins = 1_763_500_000_123
  let from = begins
  const due: string[] = []
  for (let n = 0; n < 600; n++) {
    const to = from + (gaps[n % gaps.length] ?? 0)
    due.push(...dueBetween(INTERVALS, at(from), at(to)))
    from = to
  }
  for (const { name, everyMs } of INTERVALS.slice(1)) {
    const multiples = Math.ceil(from / everyMs) - Math.ceil(begins / everyMs)
    expect(due.filter((one) => one === name)).toHaveLength(multiples)
  }
})
