import { setTimeout as wait } from 'node:timers/promises'
import { testTimeout } from './measured.ts'

interface Polling {
  readonly withinMs?: number
  readonly everyMs?: number
}

/** Polls until the condition is true and throws after `withinMs`, or later when this run does not measure time. */
export async function until(
  what: string,
  isTrue: () => Promise<boolean> | boolean,
  { withinMs = 30_000, everyMs = 20 }: Polling = {},
): Promise<void> {
  const limitMs = testTimeout(withinMs)
  if (!(await isTrueWithin(limitMs, isTrue, everyMs))) throw new Error(`not within ${limitMs} ms: ${what}`)
}

/** Polls until the condition is true or the time is over, and returns whether it is true. */
export async function isTrueWithin(
  withinMs: number,
  isTrue: () => Promise<boolean> | boolean,
  everyMs = 20,
): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while (!(await isTrue())) {
    if (performance.now() > deadline) return false
    await wait(everyMs)
  }
  return true
}

/** The value below which this share of the numbers lies. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
