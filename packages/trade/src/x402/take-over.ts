import { EVER, FOREVER } from '@market/kernel/clock'
import { findPayment } from '@market/money/payments'
import { free, isContestable } from './contest.ts'
import { contested, usedAlready } from './errors.ts'
import { fulfil } from './fulfil.ts'
import {
  isSameRequest,
  type Offer,
  type PurchaseContext,
  type PurchaseIn,
  type PurchaseResult,
  type TransferEvidence,
} from './purchase.ts'
import { lockPurchase, saveTakenOver } from './store.ts'

/**
 * Everybody can read a transaction's hash, so somebody may have hired with a payment that was not theirs. Who made it
 * and signs for it gets what they wanted, for an hour; what is delivered already is for an operator to decide. Undefined
 * when this is not so.
 */
export async function takeOver(
  ctx: PurchaseContext,
  { wanted, quote }: Offer,
  purchase: PurchaseIn<'done'>,
  { payer }: TransferEvidence,
): Promise<PurchaseResult | undefined> {
  if (payer === undefined || !isContestable(purchase, [payer]) || isSameRequest(purchase, wanted))
    return undefined
  const { due } = await quote()
  if (due > purchase.due) throw usedAlready()
  const { network, reference } = purchase
  const question = { reference, minAmount: due, payers: [payer], notBefore: EVER, notAfter: FOREVER }
  const seen = await findPayment(ctx, network, question)
  if (seen === undefined) throw usedAlready()
  const taken = await ctx.transact(async (tx) => {
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
