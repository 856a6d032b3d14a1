import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { EVER, FOREVER } from '@market/kernel/clock'
import { findPayment } from '@market/money/payments'
import { fulfil } from './fulfil.ts'
import type { PurchaseIn } from './purchase.ts'
import { lockPurchase, saveDone, saveVoid } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>
type Ended = PurchaseIn<'done'> | PurchaseIn<'void'>

/**
 * One look at a payment that was sent, by the request it came with, by one that repeats it, or by the worker: what was
 * bought when it has arrived, nothing when it never can. Undefined while it may still come; then it is sent again.
 */
export async function settlePurchase(ctx: Ctx, purchase: PurchaseIn<'sent'>): Promise<Ended | undefined> {
  const { settlement, payment, network } = purchase
  const facilitator = ctx.facilitators[network]
  if (facilitator === undefined) return undefined
  const outcome = await facilitator.observe(settlement, payment).catch(unlessAway)
  switch (outcome?.kind) {
    case 'arrived':
      return take(ctx, purchase, outcome.reference)
    case 'void':
      return end(ctx, purchase, outcome.reason)
    default:
      await facilitator.send(settlement).catch(() => undefined)
      return undefined
  }
}

/** A chain that cannot be reached tells nothing. */
function unlessAway(error: unknown): undefined {
  if (error instanceof ApiError && error.kind === 'unavailable') return undefined
  throw error
}

/** A verdict of the chain, in a word; trouble in asking tells nothing, and whether it failed the look before tells. */
function rejectedBy(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.kind !== 'invalid') return unlessAway(error)
  return error.extra.code === 'failed_on_chain' ? undefined : (error.extra.code ?? error.message)
}

async function take(ctx: Ctx, purchase: PurchaseIn<'sent'>, reference: string): Promise<Ended | undefined> {
  const { network, due, payer } = purchase
  const seen = await findPayment(ctx, network, {
    reference,
    minAmount: due,
    ...(payer !== null && { payers: [payer] }),
    // What binds it is what was signed; a chain that stood still dates its blocks in the past.
    notBefore: EVER,
    notAfter: FOREVER,
  }).catch(rejectedBy)
  if (seen === undefined) return undefined
  // It moved something else than it was signed for: what came is in suspense, for an operator to look at.
  if (typeof seen === 'string') return end(ctx, purchase, seen)
  try {
    return await transact(ctx.db, async (tx) => {
      const locked = await lockPurchase(tx, purchase.id)
      if (locked.state === 'done' || locked.state === 'void') return locked
      const resultId = await fulfil(ctx, tx, locked, seen)
      await saveDone(tx, purchase.id, { reference, payer: seen.payer, resultId }, ctx.clock.now())
      return (await lockPurchase(tx, purchase.id)) as PurchaseIn<'done'>
    })
  } catch (error) {
    // One transaction can bring two signed payments; the books know it as the first one's.
    if (error instanceof ApiError && error.kind === 'conflict')
      return end(ctx, purchase, 'paid_together_with_another')
    throw error
  }
}

async function end(ctx: Ctx, purchase: PurchaseIn<'sent'>, why: string): Promise<Ended> {
  await saveVoid(ctx.db, purchase, why, ctx.clock.now())
  return transact(ctx.db, async (tx) => (await lockPurchase(tx, purchase.id)) as Ended)
}
