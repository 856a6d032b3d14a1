import { type Clock, later } from '@market/kernel/clock'

export type TestClock = Clock & { advance(ms: number): void; set(at: Date): void }

export function testClock(start = new Date('2026-01-01T00:00:00Z')): TestClock {
  let at = start
  return {
    now: () => at,
    wallTime: () => at,
    advance: (ms) => {
      at = later(at, ms)
    },
    set: (to) => {
      at = to
    },
  }
}
