import type { Needs } from '@market/core/context'
import type { Facilitator, SettlementTerms } from '@market/core/ports/facilitator'
import { type GasTransaction, replaceGasTransaction, takeUnmined } from './store.ts'

const MOST_UNMINED = 50

type Ctx = Needs<'db' | 'facilitators'>

/**
 * Sends again what our gas accounts signed and no block has, whatever became of the purchase: a nonce that is never used
 * blocks all later ones. What offers too little by now is signed anew for more, and written down before it is sent.
 */
export async function sendUnmined(ctx: Ctx): Promise<void> {
  const done = await Promise.allSettled(Object.values(ctx.facilitators).map((one) => sendAll(ctx, one)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some settlements could not be sent again')
}

async function sendAll(ctx: Ctx, facilitator: Facilitator): Promise<void> {
  const counted = await facilitator.minedNonce()
  if (counted === null) return
  const unmined = await takeUnmined(ctx.db, facilitator.network, counted, MOST_UNMINED)
  if (unmined.length === 0) return
  const terms = await facilitator.readTerms()
  const failures: unknown[] = []
  for (const one of unmined) {
    const bytes = await bestOf(ctx, facilitator, one, terms).catch((error: unknown) => {
      failures.push(error)
      return one.bytes
    })
    await facilitator.send({ bytes }).catch(() => undefined)
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${facilitator.network}: nothing could be outbid`)
}

async function bestOf(
  ctx: Ctx,
  facilitator: Facilitator,
  one: GasTransaction,
  terms: SettlementTerms,
): Promise<string> {
  const better = await facilitator.replaceWithHigherFee(one.bytes, terms)
  if (better === undefined) return one.bytes
  const isOurs = await replaceGasTransaction(ctx.db, facilitator.network, one, better)
  return isOurs ? better : one.bytes
}
