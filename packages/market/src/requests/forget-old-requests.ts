import { earlier, HOUR } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { KEPT_MS } from './request.ts'
import { deleteOlder } from './store.ts'

const BATCH = 1_000

/** One sweep deletes at most so many batches of each, so that it ends; the next goes on. */
const MOST_BATCHES = 200

/** Signatures are refused by age after five minutes; a whole day is kept for looking into incidents. */
const SIGNATURES_KEPT_MS = 24 * HOUR

/** Deletes until none is left: a fixed number a minute would fall behind whoever writes faster. */
export async function forgetOldRequests(ctx: Needs<'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const requests = await forget(ctx, 'requests', earlier(now, KEPT_MS))
  const signatures = await forget(ctx, 'used_signatures', earlier(now, SIGNATURES_KEPT_MS))
  return requests + signatures
}

async function forget(
  ctx: Needs<'db'>,
  table: 'requests' | 'used_signatures',
  before: Date,
): Promise<number> {
  let forgotten = 0
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    const deleted = await deleteOlder(ctx.db, table, before, BATCH)
    forgotten += deleted
    if (deleted < BATCH) break
  }
  return forgotten
}
