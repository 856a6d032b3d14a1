import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { earlier, FOREVER, SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { lookUpPayment, type PendingReason } from '../find-payment.ts'
import { sendSettlement, signAgain } from '../settlements/send-settlement.ts'
import {
  ANY_AMOUNT,
  awaitedUntil,
  type Failure,
  type Intent,
  type IntentHandler,
  type IntentPurpose,
  type Purposes,
} from './intent.ts'
import { acquireWaiting, endIntent, findWaitingIntent, saveDepth } from './store.ts'

const BATCH = 50
/** The part of a batch for submitted payments: anyone can name many transfers that never come. */
const BATCH_SUBMITTED = 25
const CHECK_EVERY_MS = 2 * SECOND

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>

/** Checks the payments that something waits for. An error with one does not stop the others; all are thrown at the end. */
export async function checkIntents(ctx: Ctx, purposes: Purposes): Promise<number> {
  const now = ctx.clock.now()
  const own = { chains: networksOf(ctx.chains), facilitators: networksOf(ctx.facilitators) }
  const at = { now, before: earlier(now, CHECK_EVERY_MS) }
  const submitted = await acquireWaiting(ctx.db, 'submitted', own, at, BATCH_SUBMITTED)
  const named = await acquireWaiting(ctx.db, 'named', own, at, BATCH - submitted.length)
  const intents = [...submitted, ...named]
  const done = await Promise.allSettled(
    intents.map((intent) => checkIntent(ctx, intent, purposes[intent.purpose.kind])),
  )
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some payments could not be checked')
  return intents.length
}

/** Checks what a purpose waits for once. Returns the payment while it can still arrive. */
export async function checkPurpose(
  ctx: Ctx,
  purpose: IntentPurpose,
  handler: IntentHandler,
): Promise<Intent | undefined> {
  const intent = await findWaitingIntent(ctx.db, purpose)
  if (intent === undefined) return undefined
  await checkIntent(ctx, intent, handler)
  return findWaitingIntent(ctx.db, purpose)
}

/** Looks for the payment once: fulfils what it pays for when it is confirmed, ends the wait when it can never be. */
export async function checkIntent(ctx: Ctx, intent: Intent, handler: IntentHandler): Promise<void> {
  const found = await observePayment(ctx, intent)
  if (found === undefined) return
  if ('status' in found) return fail(ctx, intent, handler, found)
  try {
    await transact(ctx.db, async (tx) => {
      const status = await handler.onConfirmed(ctx, tx, intent, found)
      const { reference } = status === 'cancelled' ? intent : found
      await endIntent(tx, intent, { status, reference, why: null })
    })
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind === 'unavailable') throw error
    // fix: another-transfer-counts
    if (await hasAnother(ctx, intent, found, error)) return
    await fail(ctx, intent, handler, failureOf(error))
  }
}

/** Whether the transaction has another transfer for this intent, because something else took this one meanwhile. */
async function hasAnother(
  ctx: Ctx,
  intent: Intent,
  found: IncomingTransfer,
  error: ApiError,
): Promise<boolean> {
  if (error.extra.code !== 'transfer_used') return false
  const other = await observePayment(ctx, intent)
  return other !== undefined && 'index' in other && other.index !== found.index
}

const networksOf = (all: Readonly<Partial<Record<Network, unknown>>>): Network[] =>
  Object.keys(all) as Network[]

const fail = (ctx: Ctx, intent: Intent, handler: IntentHandler, failure: Failure): Promise<void> =>
  transact(ctx.db, async (tx) => {
    await handler.onFailed(ctx, tx, intent, failure)
    const { status, message: why } = failure
    await endIntent(tx, intent, { status, reference: intent.reference, why })
  })

const failureOf = (error: ApiError): Failure => ({
  status: 'failed',
  code: error.code,
  message: error.message,
})

/** The transfer, why it cannot pay, or undefined while it can still arrive. */
async function observePayment(ctx: Ctx, intent: Intent): Promise<IncomingTransfer | Failure | undefined> {
  const settled = await observeOrResubmit(ctx, intent)
  if (settled !== undefined && typeof settled !== 'string') return settled
  if (settled === undefined && hasBytes(intent)) return undefined
  const seen = await findOn(ctx, intent, settled ?? intent.reference)
  if (typeof seen === 'object') return seen
  // What is in a block is not given up, also when nobody has read the blocks after it for long.
  // fix: unconfirmed-does-not-expire
  if (seen === 'unconfirmed' || hasBytes(intent)) return undefined
  return ctx.clock.now() > awaitedUntil(intent.since) ? NOT_FOUND : undefined
}

const NOT_FOUND: Failure = {
  status: 'expired',
  code: 'transaction_not_found',
  message: 'The transfer was not found on the chain within an hour. Pay with another transfer.',
}

const hasBytes = ({ submission }: Intent): boolean =>
  submission !== null && submission.settlement.bytes !== null

/** The transaction that executed a signed payment, or why none ever can. Submits the payment again otherwise. */
async function observeOrResubmit(ctx: Ctx, intent: Intent): Promise<string | Failure | undefined> {
  const { network, submission } = intent
  const facilitator = ctx.facilitators[network]
  if (facilitator === undefined || submission === null) return undefined
  const { payment, settlement } = submission
  const { bytes } = settlement
  const outcome = await facilitator
    .observe({ ...settlement, bytes: bytes ?? '' }, payment)
    .catch(rethrowUnlessUnavailable)
  if (outcome?.kind === 'arrived') return outcome.reference
  // Also after a reorganization: then nothing can execute it any more, and another payment cannot be a second one.
  // fix: reversed-submission-ends
  if (outcome?.kind === 'void') {
    const message = `The signed payment did not take effect: ${outcome.reason}. Pay again.`
    return { status: 'failed', code: outcome.reason, message }
  }
  if (bytes === null) return undefined
  // fix: dropped-submission-has-no-depth
  if (outcome !== undefined) await saveDepth(ctx.db, intent, null)
  // fix: lost-nonce-signed-again
  const again = outcome?.isLost ? await signAgain(ctx, facilitator, { ...intent, bytes }, payment) : undefined
  await sendSettlement(facilitator, again ?? { bytes })
  return undefined
}

/** An unavailable chain gives no result. */
function rethrowUnlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.kind !== 'unavailable') throw error
}

async function findOn(
  ctx: Ctx,
  intent: Intent,
  reference: string,
): Promise<IncomingTransfer | Failure | PendingReason | undefined> {
  const { network, payers, due, notBefore } = intent
  try {
    const question = {
      reference,
      // What a named transfer pays for decides whether it is enough: a cancelled order is refunded any amount.
      minAmount: intent.submission === null ? ANY_AMOUNT : due,
      expected: due,
      notBefore,
      notAfter: FOREVER,
      ...(payers !== null && { payers }),
    }
    return await lookUpPayment(ctx, network, question, (depth) => saveDepth(ctx.db, intent, depth))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The facilitator reports a submitted payment that failed, and a chain that is unavailable gives no result.
    if (hasBytes(intent) && (error.kind === 'unavailable' || error.extra.code === 'failed_on_chain'))
      return undefined
    if (error.kind === 'unavailable') throw error
    return failureOf(error)
  }
}
