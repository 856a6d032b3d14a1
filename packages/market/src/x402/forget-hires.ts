import { DAY, earlier } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { deleteOver } from './store.ts'

/** Long after such a payment could be named again: what is an hour old buys nothing. */
const KEPT_MS = 7 * DAY
const BATCH = 1_000
const MOST_BATCHES = 100

/** Forgets payments that came to nothing. What was bought stays. */
export async function forgetHires(ctx: Needs<'db' | 'clock'>): Promise<number> {
  const before = earlier(ctx.clock.now(), KEPT_MS)
  let forgotten = 0
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    const deleted = await deleteOver(ctx.db, before, BATCH)
    forgotten += deleted
    if (deleted < BATCH) break
  }
  return forgotten
}
