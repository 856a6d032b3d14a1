import { rejectWhileStopped } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { EVER, FOREVER } from '@market/kernel/clock'
import { findPayment } from '@market/money/payments'
import { free, isContestable } from './contest.ts'
import { contested, usedAlready } from './errors.ts'
import { fulfil } from './fulfil.ts'
import { type BuyContext, isSameRequest, type Offer, type Shown } from './offer.ts'
import type { PurchaseIn } from './purchase.ts'
import type { PurchaseResult } from './purchase-result.ts'
import { lockPurchase, saveTakenOver } from './store.ts'

/**
 * Everybody can read a transaction's hash, so somebody may have hired with a payment that was not theirs. Who made it
 * and signs for it gets what they wanted, for an hour; what is delivered already is for an operator to decide. Undefined
 * when this is not so.
 */
export async function takeOver(
  ctx: BuyContext,
  { wanted, quote }: Offer,
  purchase: PurchaseIn<'done'>,
  { payer }: Shown,
): Promise<PurchaseResult | undefined> {
  if (payer === undefined || !isContestable(purchase, [payer]) || isSameRequest(purchase, wanted))
    return undefined
  const { due } = await quote()
  if (due > purchase.due) throw usedAlready()
  const { network, reference } = purchase
  const question = { reference, minAmount: due, payers: [payer], notBefore: EVER, notAfter: FOREVER }
  const seen = await findPayment(ctx, network, question)
  if (seen === undefined) throw usedAlready()
  const taken = await transact(ctx.db, async (tx) => {
    await rejectWhileStopped(tx, ['read_only', 'freeze_intake'])
    const freed = await free(ctx, tx, purchase)
    if (freed === false) throw usedAlready()
    if (freed === 'disputed') return undefined
    const resultId = await fulfil(ctx, tx, { ...purchase, ...wanted, due, binding: 'payer' }, seen)
    await saveTakenOver(tx, purchase.id, { ...wanted, resultId, due }, ctx.clock.now())
    return lockPurchase(tx, purchase.id)
  })
  if (taken === undefined) throw contested()
  return taken.state === 'done' ? { kind: 'done', purchase: taken, isReplay: false } : undefined
}
