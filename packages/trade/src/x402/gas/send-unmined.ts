import type { Needs } from '@market/core/context'
import type { Facilitator, SettlementTerms } from '@market/core/ports/facilitator'
import { findUnmined, type GasTransaction, replaceGasTransaction } from './store.ts'

const MAX_UNMINED = 50

type Ctx = Needs<'db' | 'facilitators'>

/**
 * Submits transactions of our gas accounts again until they are mined, even if the purchase failed: an unused nonce
 * blocks all later ones. One with too low a fee is replaced by one with a higher fee, which is stored before it is sent.
 */
export async function sendUnmined(ctx: Ctx): Promise<void> {
  const done = await Promise.allSettled(Object.values(ctx.facilitators).map((one) => sendUnminedOf(ctx, one)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some settlements could not be submitted again')
}

async function sendUnminedOf(ctx: Ctx, facilitator: Facilitator): Promise<void> {
  const minedNonce = await facilitator.minedNonce()
  if (minedNonce === null) return
  const unmined = await findUnmined(ctx.db, facilitator.network, minedNonce, MAX_UNMINED)
  if (unmined.length === 0) return
  const terms = await facilitator.readTerms()
  const failures: unknown[] = []
  for (const one of unmined) {
    const bytes = await replaceIfTooLow(ctx, facilitator, one, terms).catch((error: unknown) => {
      failures.push(error)
      return one.bytes
    })
    await facilitator.send({ bytes }).catch(() => undefined)
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${facilitator.network}: no settlement could be replaced`)
}

async function replaceIfTooLow(
  ctx: Ctx,
  facilitator: Facilitator,
  one: GasTransaction,
  terms: SettlementTerms,
): Promise<string> {
  const better = await facilitator.replaceWithHigherFee(one.bytes, terms)
  if (better === undefined) return one.bytes
  const isReplaced = await replaceGasTransaction(ctx.db, facilitator.network, one, better)
  return isReplaced ? better : one.bytes
}
