import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { EVER, FOREVER } from '@market/kernel/clock'
import { Refusal } from '@market/kernel/refusal'
import { findPayment } from '@market/money/payments'
import { fulfil } from './fulfil.ts'
import type { HireIn } from './hire.ts'
import { lockHire, saveDone, saveVoid } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>
type Ended = HireIn<'done'> | HireIn<'void'>

/**
 * One look at a payment that was sent, by the request it came with, by one that repeats it, or by the worker: what was
 * bought when it has arrived, nothing when it never can. Undefined while it may still come; then it is sent again.
 */
export async function seeThrough(ctx: Ctx, hire: HireIn<'sent'>): Promise<Ended | undefined> {
  const { settlement, payment, network } = hire
  const facilitator = ctx.facilitators[network]
  if (facilitator === undefined) return undefined
  const outcome = await facilitator.look(settlement, payment).catch(unlessAway)
  switch (outcome?.kind) {
    case 'arrived':
      return take(ctx, hire, outcome.reference)
    case 'void':
      return end(ctx, hire, outcome.why)
    default:
      await facilitator.send(settlement).catch(() => undefined)
      return undefined
  }
}

/** A chain that cannot be reached tells nothing. */
function unlessAway(error: unknown): undefined {
  if (error instanceof Refusal && error.kind === 'unavailable') return undefined
  throw error
}

/** A verdict of the chain, in a word; trouble in asking tells nothing, and whether it failed the look before tells. */
function refusedBy(error: unknown): string | undefined {
  if (!(error instanceof Refusal) || error.kind !== 'invalid') return unlessAway(error)
  return error.extra.code === 'failed_on_chain' ? undefined : (error.extra.code ?? error.message)
}

async function take(ctx: Ctx, hire: HireIn<'sent'>, reference: string): Promise<Ended | undefined> {
  const { network, due, payer } = hire
  const seen = await findPayment(ctx, network, {
    reference,
    atLeast: due,
    ...(payer !== null && { payers: [payer] }),
    // What binds it is what was signed; a chain that stood still dates its blocks in the past.
    notBefore: EVER,
    notAfter: FOREVER,
  }).catch(refusedBy)
  if (seen === undefined) return undefined
  // It moved something else than it was signed for: what came is in suspense, for an operator to look at.
  if (typeof seen === 'string') return end(ctx, hire, seen)
  try {
    return await transact(ctx.db, async (tx) => {
      const locked = await lockHire(tx, hire.id)
      if (locked.state === 'done' || locked.state === 'void') return locked
      const resultId = await fulfil(ctx, tx, locked, seen)
      await saveDone(tx, hire.id, { reference, payer: seen.payer, resultId }, ctx.clock.now())
      return (await lockHire(tx, hire.id)) as HireIn<'done'>
    })
  } catch (error) {
    // One transaction can bring two signed payments; the books know it as the first one's.
    if (error instanceof Refusal && error.kind === 'conflict')
      return end(ctx, hire, 'paid_together_with_another')
    throw error
  }
}

async function end(ctx: Ctx, hire: HireIn<'sent'>, why: string): Promise<Ended> {
  await saveVoid(ctx.db, hire, why, ctx.clock.now())
  return transact(ctx.db, async (tx) => (await lockHire(tx, hire.id)) as Ended)
}
