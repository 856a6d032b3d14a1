import { earlier, HOUR } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { KEPT_MS } from './request.ts'
import { deleteOlder } from './store.ts'

const BATCH = 1_000

/** Signatures are refused by age after five minutes; a whole day is kept for looking into incidents. */
const SIGNATURES_KEPT_MS = 24 * HOUR

export async function forgetOldRequests(ctx: Needs<'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const requests = await deleteOlder(ctx.db, 'requests', earlier(now, KEPT_MS), BATCH)
  const signatures = await deleteOlder(ctx.db, 'used_signatures', earlier(now, SIGNATURES_KEPT_MS), BATCH)
  return requests + signatures
}
