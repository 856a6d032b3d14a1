import { expect } from 'vitest'

/** Set by the gauntlet, which runs alone on the machine. Elsewhere a test checks what happens, and not how fast. */
export const MEASURES_TIME = process.env['MEASURE_TIME'] === '1'

/** Fails when it took longer, if this run measures time. */
export function expectWithin(ms: number, limitMs: number): void {
  if (MEASURES_TIME) expect(ms).toBeLessThan(limitMs)
}

/** Fails when it took less time, if this run measures time. */
export function expectAtLeast(ms: number, limitMs: number): void {
  if (MEASURES_TIME) expect(ms).toBeGreaterThanOrEqual(limitMs)
}

const LONG_TIMEOUT_MS = 150_000

/** The timeout for something with this time limit; longer when this run does not measure time. */
export const testTimeout = (limitMs: number): number =>
  MEASURES_TIME ? limitMs : Math.max(limitMs, LONG_TIMEOUT_MS)
