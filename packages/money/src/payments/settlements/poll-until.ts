import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'

const POLL_INTERVAL_MS = 400

/** Polls until there is a result, or undefined when the wait ends. */
export async function pollUntil<T>(
  { resultWaitMs }: Needs<'resultWaitMs'>,
  check: () => Promise<T | undefined>,
  intervalMs = POLL_INTERVAL_MS,
): Promise<T | undefined> {
  const deadline = performance.now() + resultWaitMs
  for (;;) {
    const found = await check()
    if (found !== undefined || performance.now() > deadline) return found
    await pause(intervalMs)
  }
}
