import { expect, test } from 'vitest'
import { localWindows } from './local-windows.ts'

const MINUTE_RULE = { name: 'a', max: 2, windowSeconds: 60 }
const HOUR_RULE = { name: 'b', max: 2, windowSeconds: 3_600 }

function withClock(capacity: number) {
  const clock = { now: 0 }
  return { clock, windows: localWindows(capacity, () => clock.now) }
}

test('a window ends exactly at its time', () => {
  const { clock, windows } = withClock(10)
  windows.take('k', MINUTE_RULE)
  windows.take('k', MINUTE_RULE)
  clock.now = 59_999
  expect(windows.take('k', MINUTE_RULE)).toEqual({ allowed: false, remaining: 0, resetsInMs: 1 })
  clock.now = 60_000
  expect(windows.take('k', MINUTE_RULE)).toEqual({ allowed: true, remaining: 1, resetsInMs: 60_000 })
})

test('memory is limited: ended windows are deleted first, then the oldest', () => {
  const { clock, windows } = withClock(3)
  windows.take('hour', HOUR_RULE)
  windows.take('hour', HOUR_RULE)
  windows.take('m1', MINUTE_RULE)
  windows.take('m2', MINUTE_RULE)
  clock.now = 60_001
  windows.take('m3', MINUTE_RULE)
  expect(windows.size).toBe(2)
  expect(windows.take('hour', HOUR_RULE).allowed).toBe(false)

  for (let i = 0; i < 1_000; i++) windows.take(`flood${i}`, MINUTE_RULE)
  expect(windows.size).toBe(3)
})

test('a lower count from Redis does not reduce the local count', () => {
  const { windows } = withClock(3)
  windows.take('k', MINUTE_RULE)
  windows.take('k', MINUTE_RULE)
  windows.remember('k', 1, 60_000)
  expect(windows.take('k', MINUTE_RULE).allowed).toBe(false)
})

test('continues from the count of Redis', () => {
  const { windows } = withClock(3)
  windows.remember('k', 1, 30_000)
  expect(windows.take('k', MINUTE_RULE)).toEqual({ allowed: true, remaining: 0, resetsInMs: 30_000 })
  expect(windows.take('k', MINUTE_RULE).allowed).toBe(false)
})
