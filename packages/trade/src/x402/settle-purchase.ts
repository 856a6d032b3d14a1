import { setTimeout as pause } from 'node:timers/promises'
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
 * Checks a submitted payment once, for its request, a repeated request or the worker. Fulfils the purchase when the
 * payment arrived, ends it when it never can, and submits it again otherwise (undefined).
 */
export async function settlePurchase(ctx: Ctx, purchase: PurchaseIn<'sent'>): Promise<Ended | undefined> {
  const { settlement, payment, network } = purchase
  const facilitator = ctx.facilitators[network]
  if (facilitator === undefined) return undefined
  const outcome = await facilitator.observe(settlement, payment).catch(unlessUnavailable)
  switch (outcome?.kind) {
    case 'arrived':
      return fulfilArrived(ctx, purchase, outcome.reference)
    case 'void':
      return end(ctx, purchase, outcome.reason)
    default:
      await facilitator.send(settlement).catch(() => undefined)
      return undefined
  }
}

/** An unavailable chain gives no result. */
function unlessUnavailable(error: unknown): undefined {
  if (error instanceof ApiError && error.kind === 'unavailable') return undefined
  throw error
}

/** Why the chain rejects the transfer, as a code. A failed transaction was already reported by the facilitator. */
function rejectedBy(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.kind !== 'invalid') return unlessUnavailable(error)
  return error.extra.code === 'failed_on_chain' ? undefined : (error.extra.code ?? error.message)
}

async function fulfilArrived(
  ctx: Ctx,
  purchase: PurchaseIn<'sent'>,
  reference: string,
): Promise<Ended | undefined> {
  const { network, due, payer } = purchase
  const seen = await findPayment(ctx, network, {
    reference,
    minAmount: due,
    ...(payer !== null && { payers: [payer] }),
    // The signature binds it, and a chain that stood still has old block times.
    notBefore: EVER,
    notAfter: FOREVER,
  }).catch(rejectedBy)
  if (seen === undefined) return undefined
  // It transferred something else than was signed. The amount is in suspense for an operator.
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
    // One transaction can execute two signed payments; the ledger has it for the first.
    if (error instanceof ApiError && error.kind === 'conflict')
      return end(ctx, purchase, 'paid_together_with_another')
    throw error
  }
}

async function end(ctx: Ctx, purchase: PurchaseIn<'sent'>, why: string): Promise<Ended> {
  await saveVoid(ctx.db, purchase, why, ctx.clock.now())
  return transact(ctx.db, async (tx) => (await lockPurchase(tx, purchase.id)) as Ended)
}

/** Below the timeouts of common proxies. */
const MAX_POLL_MS = 12_000
const POLL_INTERVAL_MS = 400

/** Polls until there is a result, or undefined after 12 seconds. */
export async function pollUntil<T>(check: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = performance.now() + MAX_POLL_MS
  for (;;) {
    const found = await check()
    if (found !== undefined || performance.now() > deadline) return found
    await pause(POLL_INTERVAL_MS)
  }
}
