import { setTimeout as pause } from 'node:timers/promises'

/** A program that purchases waits for its answer, but no proxy between us waits for ever. */
const PATIENCE_MS = 12_000
const LOOK_EVERY_MS = 400

/** Observations again for a while, until there is something. */
export async function pollUntil<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const found = await look()
    if (found !== undefined || performance.now() > deadline) return found
    await pause(LOOK_EVERY_MS)
  }
}
