import { inBatches } from '@market/database/in-batches'
import { earlier, HOUR } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { KEPT_MS } from './request.ts'
import { deleteOlder } from './store.ts'

const MOST_BATCHES = 200

/** Signatures are rejected by age after five minutes; a whole day is kept for looking into incidents. */
const SIGNATURES_KEPT_MS = 24 * HOUR

export async function forgetOldRequests({ db, clock }: Needs<'db' | 'clock'>): Promise<number> {
  const forget = (table: 'requests' | 'used_signatures', keptMs: number) => {
    const before = earlier(clock.now(), keptMs)
    return inBatches(MOST_BATCHES, (atMost) => deleteOlder(db, table, before, atMost))
  }
  return (await forget('requests', KEPT_MS)) + (await forget('used_signatures', SIGNATURES_KEPT_MS))
}
