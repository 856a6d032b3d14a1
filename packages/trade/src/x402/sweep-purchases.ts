import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { DAY, earlier, SECOND } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { settlePurchase } from './settle-purchase.ts'
import { deleteVoid, findAuthorization, lockSent, saveReplacement } from './store.ts'

const BATCH = 50
const POLL_INTERVAL_MS = 3 * SECOND

/** Settles payments whose request ended early or whose process died, so that the payer gets what was paid for. */
export async function finishPurchases(
  ctx: Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>,
): Promise<number> {
  const now = ctx.clock.now()
  // Only networks that this process has a facilitator for.
  const networks = Object.values(ctx.facilitators).map(({ network }) => network)
  const sent = await lockSent(ctx.db, networks, { now, before: earlier(now, POLL_INTERVAL_MS) }, BATCH)
  const results = await Promise.allSettled(sent.map((purchase) => settlePurchase(ctx, purchase)))
  const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some payments could not be settled')
  return sent.length
}

/** A transfer older than an hour buys nothing, so a week is long enough. */
const RETENTION_MS = 7 * DAY
const MAX_BATCHES = 100

/** Deletes payments that bought nothing. */
export function deleteVoidPurchases({ db, clock }: Needs<'db' | 'clock'>): Promise<number> {
  const before = earlier(clock.now(), RETENTION_MS)
  return inBatches(MAX_BATCHES, (limit) => deleteVoid(db, before, limit))
}

/**
 * A signed authorization can be executed by any transaction, once: after a reorganization by a replacement of ours or by
 * another sender. Returns that transaction when it differs from the one of the order.
 */
export async function findReplacementTx(
  ctx: Needs<'db' | 'clock' | 'facilitators'>,
  orderId: OrderId,
  { network, reference }: { readonly network: Network; readonly reference: string },
): Promise<string | undefined> {
  const facilitator = ctx.facilitators[network]
  const bought = await findAuthorization(ctx.db, orderId, network)
  if (facilitator === undefined || bought === undefined) return undefined
  const { payment, signedAtHeight } = bought
  const settlement = { reference, bytes: '', nonce: null, signedAtHeight, lastValidHeight: null }
  const outcome = await facilitator.observe(settlement, payment)
  if (outcome.kind !== 'arrived' || outcome.reference === reference) return undefined
  await saveReplacement(ctx.db, bought.id, outcome.reference, ctx.clock.now())
  return outcome.reference
}
