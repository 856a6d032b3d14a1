import { refuseWhileStopped } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { EVER, FOREVER } from '@market/kernel/clock'
import { findPayment } from '@market/money/payments'
import type { HireAnswer } from './answers.ts'
import { free, isAnothers } from './contest.ts'
import { fulfil } from './fulfil.ts'
import type { HireIn } from './hire.ts'
import { type BuyContext, isSameRequest, type Offer, type Shown } from './offer.ts'
import { contested, usedAlready } from './refusals.ts'
import { lockHire, saveTakenOver } from './store.ts'

/**
 * Everybody can read a transaction's hash, so somebody may have hired with a payment that was not theirs. Who made it
 * and signs for it gets what they wanted, for an hour; what is delivered already is for an operator to decide. Undefined
 * when this is not so.
 */
export async function takeOver(
  ctx: BuyContext,
  { purchase, quote }: Offer,
  hire: HireIn<'done'>,
  { payer }: Shown,
): Promise<HireAnswer | undefined> {
  if (payer === undefined || !isAnothers(hire, [payer]) || isSameRequest(hire, purchase)) return undefined
  const { due } = await quote()
  if (due > hire.due) throw usedAlready()
  const { network, reference } = hire
  const question = { reference, atLeast: due, payers: [payer], notBefore: EVER, notAfter: FOREVER }
  const seen = await findPayment(ctx, network, question)
  if (seen === undefined) throw usedAlready()
  const taken = await transact(ctx.db, async (tx) => {
    await refuseWhileStopped(tx, ['read_only', 'freeze_intake'])
    const freed = await free(ctx, tx, hire)
    if (freed === false) throw usedAlready()
    if (freed === 'disputed') return undefined
    const resultId = await fulfil(ctx, tx, { ...hire, ...purchase, due }, seen)
    await saveTakenOver(tx, hire.id, { ...purchase, resultId, due }, ctx.clock.now())
    return lockHire(tx, hire.id)
  })
  if (taken === undefined) throw contested()
  return taken.state === 'done' ? { kind: 'done', hire: taken, isReplay: false } : undefined
}
