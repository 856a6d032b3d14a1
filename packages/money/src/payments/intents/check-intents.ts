import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { earlier, FOREVER, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { findPayment } from '../find-payment.ts'
import { awaitedUntil, type Failure, type Intent, type IntentHandler, type Purposes } from './intent.ts'
import { acquireWaiting, endIntent } from './store.ts'

const BATCH = 50
const CHECK_EVERY_MS = 2 * SECOND
const ANY_AMOUNT = usdc(1n)

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>

/** Checks the payments that something waits for. An error with one does not stop the others; all are thrown at the end. */
export async function checkIntents(ctx: Ctx, purposes: Purposes): Promise<number> {
  const now = ctx.clock.now()
  const intents = await acquireWaiting(ctx.db, { now, before: earlier(now, CHECK_EVERY_MS) }, BATCH)
  const done = await Promise.allSettled(
    intents.map((intent) => checkIntent(ctx, intent, purposes[intent.purpose.kind])),
  )
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some payments could not be checked')
  return intents.length
}

/** Looks for the payment once: fulfils what it pays for when it is confirmed, ends the wait when it can never be. */
export async function checkIntent(ctx: Ctx, intent: Intent, handler: IntentHandler): Promise<void> {
  const found = await look(ctx, intent)
  if (found === undefined) return
  if ('status' in found) return fail(ctx, intent, handler, found)
  try {
    await transact(ctx.db, async (tx) => {
      const isPaid = await handler.onConfirmed(ctx, tx, intent, found)
      const { reference } = isPaid ? found : intent
      await endIntent(tx, intent, { status: isPaid ? 'confirmed' : 'cancelled', reference, why: null })
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await fail(ctx, intent, handler, failureOf(error))
  }
}

const fail = (ctx: Ctx, intent: Intent, handler: IntentHandler, failure: Failure): Promise<void> =>
  transact(ctx.db, async (tx) => {
    await handler.onFailed(ctx, tx, intent, failure)
    const { status, message: why } = failure
    await endIntent(tx, intent, { status, reference: intent.reference, why })
  })

const failureOf = (error: ApiError): Failure => ({
  status: 'failed',
  code: error.extra.code ?? error.kind,
  message: error.message,
})

/** The transfer, why it cannot pay, or undefined while it can still arrive. */
async function look(ctx: Ctx, intent: Intent): Promise<IncomingTransfer | Failure | undefined> {
  const settled = await settle(ctx, intent)
  if (settled !== undefined && typeof settled !== 'string') return settled
  if (settled === undefined && isSubmitted(intent)) return undefined
  const seen = await findOn(ctx, intent, settled ?? intent.reference)
  if (seen !== undefined || isSubmitted(intent)) return seen
  return ctx.clock.now() > awaitedUntil(intent.since) ? NOT_FOUND : undefined
}

const NOT_FOUND: Failure = {
  status: 'expired',
  code: 'transaction_not_found',
  message: 'The transfer was not found on the chain within an hour. Pay with another transfer.',
}

const isSubmitted = ({ submission }: Intent): boolean =>
  submission !== null && submission.settlement.bytes !== null

/** The transaction that executed a signed payment, or why none ever can. Submits the payment again otherwise. */
async function settle(ctx: Ctx, { network, submission }: Intent): Promise<string | Failure | undefined> {
  const facilitator = ctx.facilitators[network]
  if (facilitator === undefined || submission === null) return undefined
  const { payment, settlement } = submission
  const { bytes } = settlement
  const outcome = await facilitator
    .observe({ ...settlement, bytes: bytes ?? '' }, payment)
    .catch(unlessUnavailable)
  if (outcome?.kind === 'arrived') return outcome.reference
  if (bytes === null) return undefined
  if (outcome?.kind === 'void') return { status: 'failed', code: outcome.reason, message: outcome.reason }
  await facilitator.send({ bytes }).catch(() => undefined)
  return undefined
}

/** An unavailable chain gives no result. */
function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.kind !== 'unavailable') throw error
}

async function findOn(
  ctx: Ctx,
  intent: Intent,
  reference: string,
): Promise<IncomingTransfer | Failure | undefined> {
  const { network, payers, due, notBefore } = intent
  try {
    return await findPayment(ctx, network, {
      reference,
      // What a named transfer pays for decides whether it is enough: a cancelled order is refunded any amount.
      minAmount: intent.submission === null ? ANY_AMOUNT : due,
      expected: due,
      notBefore,
      notAfter: FOREVER,
      ...(payers !== null && { payers }),
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The facilitator reports a submitted payment that failed, and a chain that is unavailable gives no result.
    if (isSubmitted(intent) && (error.kind === 'unavailable' || error.extra.code === 'failed_on_chain'))
      return undefined
    if (error.kind === 'unavailable') throw error
    return failureOf(error)
  }
}
