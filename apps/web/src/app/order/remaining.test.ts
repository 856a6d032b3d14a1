import { expect, test } from 'vitest'
import { remaining } from './remaining.ts'

const NOW = Date.parse('2026-11-18T12:00:00Z')
const until = (minutes: number): string =>
  remaining(new Date(NOW + minutes * 60_000).toISOString(), NOW)
    .map(({ count, unit }) => `${count} ${unit}`)
    .join(' ')

test('the time until a deadline has its two largest units', () => {
  expect([1_860, 2_880, 185, 60, 12, 0.2, -5].map(until)).toEqual([
    '1 d 7 h',
    '2 d',
    '3 h 5 min',
    '1 h',
    '12 min',
    '1 min',
    '0 min',
  ])
})
