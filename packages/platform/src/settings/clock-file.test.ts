import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { later } from '@market/kernel/clock'
import { afterAll, expect, test, vi } from 'vitest'
import { clockFrom, LOOK_EVERY_MS } from './clock-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'clock-'))
afterAll(() => rmSync(folder, { recursive: true }))

const START = new Date('2026-01-01T00:00:00Z')
const HOUR = 3_600_000

let written = 0
function clockOf(...lines: readonly string[]) {
  const path = join(folder, 'clock')
  const write = (...next: readonly string[]) => {
    writeFileSync(path, next.join('\n'))
    utimesSync(path, ++written, written)
  }
  write(...lines)
  return { clock: clockFrom({ CLOCK_FILE: path }), write }
}

test('clock: a move changes now and not the wall time', () => {
  vi.useFakeTimers({ now: START, toFake: ['Date'] })
  const { clock, write } = clockOf('0')
  expect(clock.now()).toEqual(START)
  write(`0 0`, `${HOUR} ${START.getTime()}`)
  vi.setSystemTime(later(START, LOOK_EVERY_MS))
  expect(clock.now()).toEqual(later(START, LOOK_EVERY_MS + HOUR))
  expect(clock.wallTime()).toEqual(later(START, LOOK_EVERY_MS))
  vi.useRealTimers()
})

test('clock: a block is shifted by the moves before it', () => {
  const second = later(START, 60_000)
  const { clock } = clockOf(`${HOUR} ${START.getTime()}`, `${3 * HOUR} ${second.getTime()}`)
  expect(clock.blockTime(later(START, -1))).toEqual(later(START, -1))
  expect(clock.blockTime(START)).toEqual(later(START, HOUR))
  expect(clock.blockTime(later(second, -1))).toEqual(later(second, HOUR - 1))
  expect(clock.blockTime(later(second, 5))).toEqual(later(second, 3 * HOUR + 5))
})

test('clock: an offset without a time shifts no block', () => {
  const { clock } = clockOf(String(HOUR))
  expect(clock.now().getTime() - Date.now()).toBeGreaterThan(HOUR - 1_000)
  expect(clock.blockTime(START)).toEqual(START)
})

test('clock: without a file both times are real', () => {
  const clock = clockFrom({})
  expect(Math.abs(clock.now().getTime() - clock.wallTime().getTime())).toBeLessThan(1_000)
  expect(clock.blockTime(START)).toEqual(START)
})
