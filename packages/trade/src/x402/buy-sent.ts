import type { IncomingTransfer } from '@market/core/ports/chain'
import { isLinkedWallet } from '@market/identity/accounts'
import { ApiError } from '@market/kernel/api-error'
import { earlier, HOUR, later, MINUTE } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { findPayment, normalizeReference } from '@market/money/payments'
import { isAwaited, owesPayment } from '../orders/index.ts'
import { nameAgain, replay } from './contest/name-again.ts'
import { chooseDue } from './contest/rules.ts'
import { purposeToSign, signInstructions } from './contest/signing.ts'
import { inProgress, usedAlready } from './errors.ts'
import { fulfil } from './fulfil.ts'
import { judgeReference } from './payment-reference.ts'
import type {
  Binding,
  Offer,
  PaymentCredential,
  PaymentProblem,
  PurchaseContext,
  PurchaseResult,
  TransferEvidence,
} from './purchase.ts'
import type { Quote } from './quote.ts'
import { pollUntil } from './settle-purchase.ts'
import { claimPurchase, findPurchase, isSettlement, lockPurchase, saveDone } from './store.ts'

type Sent = Extract<PaymentCredential, { kind: 'transaction' }>

/** An older transfer was made for something else. */
const MAX_AGE_MS = 1 * HOUR
const CLOCK_SLACK_MS = 1 * MINUTE
const ANY_AMOUNT = usdc(1n)
const UNDERPAID = 'underpaid'
const RETRY_SECONDS = 3

/** Buys with a transfer that the buyer already made and names by its transaction hash. One transfer buys one thing. */
export async function buySent(
  ctx: PurchaseContext,
  offer: Offer,
  sent: Sent,
  evidence: TransferEvidence,
): Promise<PurchaseResult> {
  const { network } = sent
  const { wanted } = offer
  const reference = normalizeReference(network, sent.reference)
  const payer = await evidence.signer?.(purposeToSign(wanted, { network, reference }))
  const key = { network, kind: 'transaction', proof: reference } as const
  const known = await findPurchase(ctx.db, key)
  if (known?.state === 'done') return nameAgain(ctx, offer, known, payer)
  if (await isSettlement(ctx.db, network, reference)) throw usedAlready()

  const quote = await offer.quote().catch((error: unknown) => notForSale(error, evidence))
  const askAgain = (problem: PaymentProblem, retryAfterSeconds?: number): PurchaseResult => {
    if (quote instanceof ApiError) throw retryAfterSeconds === undefined ? quote : inProgress()
    return { kind: 'quote', quote, problem, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  }
  if (!(quote instanceof ApiError) && !quote.ways.some((way) => way.network === network))
    return askAgain({ code: 'network_not_accepted' })
  const seen = await findTransfer(ctx, { network, reference }, payer)
  if (seen !== undefined && 'code' in seen) return askAgain(seen)
  if (seen === undefined) return askAgain({ code: 'transaction_not_found_yet' }, RETRY_SECONDS)
  const bound = await bind(ctx, offer, quote, seen, { payer, claim: evidence.claim })
  if (typeof bound === 'string') return askAgain({ code: bound })
  const { binding, due } = bound
  if (binding === 'none') {
    // An account's order waits for this transfer, or its payer used it for an order of another kind.
    if (known !== undefined || (await isAwaited(ctx.db, network, reference))) throw usedAlready()
    if (seen.payer !== null && (await needsSignature(ctx, seen.payer, seen.amount)))
      return askAgain({ code: 'binding_required', sign: signInstructions(ctx, wanted, { ...seen, network }) })
  }

  const now = ctx.clock.now()
  const payoutWaitMs = binding === 'none' && !(quote instanceof ApiError) ? quote.payoutWaitMs : null
  const done = await ctx.transact(async (tx) => {
    const claimed = await claimPurchase(
      tx,
      {
        ...{ ...key, ...wanted, id: ctx.ids.next('hir'), binding, payer: seen.payer, due },
        ...{ state: 'claimed', leaseUntil: later(now, MINUTE), createdAt: now },
      },
      now,
    )
    if (claimed === undefined) return undefined
    const resultId = await fulfil(ctx, tx, claimed, seen, payoutWaitMs).catch(asUsed)
    await saveDone(tx, claimed.id, { reference, payer: seen.payer, resultId }, now)
    return lockPurchase(tx, claimed.id)
  })
  if (done?.state === 'done') return { kind: 'done', purchase: done, isReplay: false, isProven: true }
  const other = await findPurchase(ctx.db, key)
  if (other?.state !== 'done') throw usedAlready()
  return payer === undefined && other.fingerprint.equals(wanted.fingerprint)
    ? replay(other, offer)
    : nameAgain(ctx, offer, other, payer)
}

/** A buyer who paid a quote gets the service even if it is no longer for sale. */
function notForSale(error: unknown, { claim }: TransferEvidence): ApiError {
  if (claim !== undefined && error instanceof ApiError && error.kind === 'not_found') return error
  throw error
}

/** Anybody could name a transfer first that an account made, or that its payer owes for an order. */
const needsSignature = async ({ db }: PurchaseContext, payer: string, amount: Usdc): Promise<boolean> =>
  (await isLinkedWallet(db, payer)) || owesPayment(db, payer, amount)

/** The transfer, undefined while it may still be confirmed, or why it is not accepted. */
async function findTransfer(
  ctx: PurchaseContext,
  { network, reference }: Pick<Sent, 'network' | 'reference'>,
  payer: string | undefined,
): Promise<IncomingTransfer | PaymentProblem | undefined> {
  const now = ctx.clock.now()
  try {
    return await pollUntil(() =>
      findPayment(ctx, network, {
        reference,
        minAmount: ANY_AMOUNT,
        notBefore: earlier(now, MAX_AGE_MS),
        notAfter: later(now, CLOCK_SLACK_MS),
        sentByPayer: true,
        ...(payer !== undefined && { payers: [payer] }),
      }),
    )
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'invalid') throw error
    return { code: error.extra.code ?? 'payment_rejected', message: error.message }
  }
}

/** How the caller is proven to be the payer, and the amount due; or the code of why the payment is not accepted. */
async function bind(
  ctx: PurchaseContext,
  offer: Offer,
  quote: Quote | ApiError,
  { payer, attachedData: attached, at, amount }: IncomingTransfer,
  proven: { readonly payer: string | undefined; readonly claim: string | undefined },
): Promise<{ readonly binding: Binding; readonly due: Usdc } | string> {
  if (payer === null) return 'payer_unknown'
  if (offer.payer !== undefined && offer.payer !== payer) return 'owner_wallet_not_payer'
  const verdict = judgeReference(ctx, { attached, at }, offer.wanted.subject, proven.claim)
  // A later price change does not affect a quote that was paid.
  if (verdict.kind === 'bound')
    return amount < verdict.due ? UNDERPAID : { binding: 'reference', due: verdict.due }
  if (verdict.kind === 'rejected') return verdict.code
  if (quote instanceof ApiError) return 'not_payable'
  const due = chooseDue(amount, quote.due, amount === quote.due ? [] : await offer.recentDues())
  if (due === undefined) return UNDERPAID
  return { binding: proven.payer === undefined ? 'none' : 'payer', due }
}

/** The transfer is already claimed for something else. */
function asUsed(error: unknown): never {
  const code = error instanceof ApiError ? error.extra.code : undefined
  throw code === 'transfer_used' || code === 'already_paid' ? usedAlready() : error
}
