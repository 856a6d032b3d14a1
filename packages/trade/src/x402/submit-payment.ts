import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'
import { type Db, type Tx, transact } from '@market/database/transact'
import { EVER, earlier, HOUR } from '@market/kernel/clock'
import { openIntent, sendSettlement, signSettlement } from '@market/money/payments'
import { inProgress } from './errors.ts'
import { findByRequestKey, lockUnderWay } from './payer-store.ts'
import { intentPurpose, type Purchase, type PurchaseContext, type PurchaseIn } from './purchase.ts'
import { saveSent } from './store.ts'

/**
 * A client whose response was lost repeats the request with the same key and signs a new payment. For this long the key
 * returns the first purchase.
 */
const KEY_VALID_MS = 24 * HOUR

export const boughtBefore = (ctx: PurchaseContext, db: Db | Tx, purchase: Purchase) =>
  findByRequestKey(db, purchase, earlier(ctx.clock.now(), KEY_VALID_MS))

interface SignedPurchase {
  readonly purchase: PurchaseIn<'sent'>
  readonly bytes: string
}

/**
 * Submits a signed payment. The nonce, the signed bytes and the intent are stored in one transaction, so that no nonce is
 * without its bytes. The wallet's other submitted payments count against its balance, because each failing one costs gas.
 * Payments of one wallet are serialized: of two with the same key one is submitted, and the other gets its purchase.
 */
export async function submitPayment(
  ctx: PurchaseContext,
  facilitator: Facilitator,
  purchase: Purchase,
  payment: SignedPayment,
): Promise<PurchaseIn<'sent' | 'done'> | string> {
  const terms = await facilitator.readTerms()
  const balance =
    purchase.payer === null ? undefined : await ctx.chains[purchase.network]?.balanceOf(purchase.payer)
  const signed = await transact<SignedPurchase | PurchaseIn<'sent' | 'done'> | string>(ctx.db, async (tx) => {
    const underWay = await lockUnderWay(tx, purchase)
    const before = await boughtBefore(ctx, tx, purchase)
    if (before !== undefined) return before
    if (balance !== undefined && balance.latest < underWay + purchase.due) return 'insufficient_funds'
    const settlement = await signSettlement(tx, facilitator, payment, terms)
    const { reference } = settlement
    if (!(await saveSent(tx, purchase, reference, ctx.clock.now()))) throw inProgress()
    await openIntent(ctx, tx, {
      purpose: intentPurpose(purchase),
      network: facilitator.network,
      reference,
      payers: purchase.payer === null ? null : [purchase.payer],
      due: purchase.due,
      // The signature binds it, and a chain that stood still has old block times.
      notBefore: EVER,
      submission: { payment, settlement },
    })
    return { purchase: { ...purchase, state: 'sent', reference }, bytes: settlement.bytes }
  })
  if (typeof signed === 'string' || 'state' in signed) return signed
  await sendSettlement(facilitator, signed)
  return signed.purchase
}
