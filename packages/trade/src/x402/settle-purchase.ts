import type { Needs } from '@market/core/context'
import { checkPurpose, type IntentHandler } from '@market/money/payments'
import { fulfil } from './fulfil.ts'
import { intentPurpose, type PurchaseId, type PurchaseIn } from './purchase.ts'
import { findPurchaseById, lockPurchase, saveDone, saveVoid } from './store.ts'

/** What becomes of a purchase whose submitted payment arrived, or never can. */
export const purchasePayment: IntentHandler = {
  async onConfirmed(ctx, tx, { purpose }, seen) {
    const purchase = await lockPurchase(tx, purpose.id as PurchaseId)
    if (purchase.state !== 'sent') return 'cancelled'
    const resultId = await fulfil(ctx, tx, purchase, seen)
    const { reference, payer } = seen
    await saveDone(tx, purchase.id, { reference, payer, resultId }, ctx.clock.now())
    return 'confirmed'
  },

  async onFailed(ctx, tx, { purpose }, { code }) {
    const purchase = await lockPurchase(tx, purpose.id as PurchaseId)
    if (purchase.state === 'sent') await saveVoid(tx, purchase, code, ctx.clock.now())
  },
}

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>

/** Checks a submitted payment once. Returns the purchase when it ended; undefined while the payment can still arrive. */
export async function settlePurchase(
  ctx: Ctx,
  purchase: PurchaseIn<'sent'>,
): Promise<PurchaseIn<'done' | 'void'> | undefined> {
  await checkPurpose(ctx, intentPurpose(purchase), purchasePayment)
  const found = await findPurchaseById(ctx.db, purchase.id)
  return found?.state === 'done' || found?.state === 'void' ? found : undefined
}
