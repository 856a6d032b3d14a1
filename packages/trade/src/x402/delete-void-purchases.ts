import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { DAY, earlier } from '@market/kernel/clock'
import { deleteOver } from './store.ts'

/** Long after such a payment could be named again: what is an hour old buys nothing. */
const KEPT_MS = 7 * DAY
const MOST_BATCHES = 100

/** Forgets payments that came to nothing. What was bought stays. */
export function deleteVoidPurchases({ db, clock }: Needs<'db' | 'clock'>): Promise<number> {
  const before = earlier(clock.now(), KEPT_MS)
  return inBatches(MOST_BATCHES, (atMost) => deleteOver(db, before, atMost))
}
