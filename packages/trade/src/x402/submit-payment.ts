import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'
import { type Db, type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { earlier, HOUR } from '@market/kernel/clock'
import { lockBalance, readSubmissionFacts, sendSettlement, storeSubmission } from '@market/money/payments'
import { inProgress } from './errors.ts'
import { findByRequestKey } from './payer-store.ts'
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
 * Submits a signed payment. The purchase is saved with the bytes of its transaction, and only then are they sent. Of two
 * payments of a wallet with the same key one is submitted, and the other gets its purchase.
 */
export async function submitPayment(
  ctx: PurchaseContext,
  facilitator: Facilitator,
  purchase: Purchase,
  payment: SignedPayment,
): Promise<PurchaseIn<'sent' | 'done'> | string> {
  const { payer, proof, due } = purchase
  assert(payer !== null, `${purchase.id} was signed by a wallet`)
  const signed = { facilitator, payment, proof, payer }
  const facts = await readSubmissionFacts(ctx, signed)
  const sent = await transact<SignedPurchase | PurchaseIn<'sent' | 'done'> | string>(ctx.db, async (tx) => {
    const { covers } = await lockBalance(tx, signed, facts)
    const before = await boughtBefore(ctx, tx, purchase)
    if (before !== undefined) return before
    if (!covers(due)) return 'insufficient_funds'
    const { reference, bytes } = await storeSubmission(ctx, tx, signed, facts.terms, {
      purpose: intentPurpose(purchase),
      due,
      async save(transaction) {
        if (!(await saveSent(tx, purchase, transaction, ctx.clock.now()))) throw inProgress()
      },
    })
    return { purchase: { ...purchase, state: 'sent', reference }, bytes }
  })
  if (typeof sent === 'string' || 'state' in sent) return sent
  await sendSettlement(facilitator, sent)
  return sent.purchase
}
