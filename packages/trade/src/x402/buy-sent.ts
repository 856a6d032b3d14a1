import type { IncomingTransfer } from '@market/core/ports/chain'
import { ApiError } from '@market/kernel/api-error'
import { earlier, HOUR, later, MINUTE } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { findPayment } from '@market/money/payments'
import { isAwaited, owesPayment } from '../orders/index.ts'
import { takeOver } from './contest.ts'
import { inProgress, usedAlready } from './errors.ts'
import { fulfil } from './fulfil.ts'
import { judgeReference } from './payment-reference.ts'
import {
  type Binding,
  isSameRequest,
  type Offer,
  type PaymentCredential,
  type PaymentProblem,
  type PurchaseContext,
  type PurchaseIn,
  type PurchaseResult,
  type TransferEvidence,
} from './purchase.ts'
import { pollUntil } from './settle-purchase.ts'
import { claimPurchase, findPurchase, isSettlement, lockPurchase, saveDone } from './store.ts'

type Sent = Extract<PaymentCredential, { kind: 'transaction' }>

/** An older transfer was made for something else. */
const MAX_AGE_MS = 1 * HOUR
const CLOCK_SLACK_MS = 1 * MINUTE
/** Above this amount the caller must prove to be the payer, because anybody can read a transaction hash. */
const MAX_UNPROVEN = usdc(25_000_000n)
const ANY_AMOUNT = usdc(1n)
const UNDERPAID = 'underpaid'
const BINDING_REQUIRED = 'binding_required'
const RETRY_SECONDS = 3

/** Buys with a transfer that the buyer already made and names by its transaction hash. One transfer buys one thing. */
export async function buySent(
  ctx: PurchaseContext,
  offer: Offer,
  sent: Sent,
  evidence: TransferEvidence,
): Promise<PurchaseResult> {
  const { network } = sent
  const reference = ctx.chains[network]?.normalize(sent.reference) ?? sent.reference
  const key = { network, kind: 'transaction', proof: reference } as const
  const known = await findPurchase(ctx.db, key)
  if (known?.state === 'done') return (await takeOver(ctx, offer, known, evidence)) ?? replay(known, offer)
  if (await isSettlement(ctx.db, network, reference)) throw usedAlready()

  const quote = await offer.quote().catch((error: unknown) => notForSale(error, evidence))
  const askAgain = (problem: PaymentProblem, retryAfterSeconds?: number): PurchaseResult => {
    if (quote instanceof ApiError) throw retryAfterSeconds === undefined ? quote : inProgress()
    return { kind: 'quote', quote, problem, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  }
  if (!(quote instanceof ApiError) && !quote.ways.some((way) => way.network === network))
    return askAgain({ code: 'network_not_accepted' })
  const seen = await findTransfer(ctx, { network, reference }, evidence)
  if (seen !== undefined && 'code' in seen) return askAgain(seen)
  if (seen === undefined) return askAgain({ code: 'transaction_not_found_yet' }, RETRY_SECONDS)
  const today = quote instanceof ApiError ? undefined : quote.due
  const bound = bind(ctx, { subject: offer.wanted.subject, today }, seen, evidence)
  if (typeof bound === 'string') return askAgain({ code: bound })
  const { binding, due } = bound
  // An account's order waits for this transfer, or its payer contested an earlier purchase.
  const isDoubtful = known !== undefined || (await isAwaited(ctx.db, network, reference))
  if (binding === 'none' && isDoubtful) throw usedAlready()
  // The payer owes this amount for an order, and anybody could name the transfer first.
  if (binding === 'none' && seen.payer !== null && (await owesPayment(ctx.db, seen.payer, seen.amount)))
    return askAgain({ code: BINDING_REQUIRED })

  const now = ctx.clock.now()
  const done = await ctx.transact(async (tx) => {
    const claimed = await claimPurchase(
      tx,
      {
        ...{ ...key, ...offer.wanted, id: ctx.ids.next('hir'), binding, payer: seen.payer, due },
        ...{ state: 'claimed', leaseUntil: later(now, MINUTE), createdAt: now },
      },
      now,
    )
    if (claimed === undefined) return undefined
    const resultId = await fulfil(ctx, tx, claimed, seen).catch(asUsed)
    await saveDone(tx, claimed.id, { reference, payer: seen.payer, resultId }, now)
    return lockPurchase(tx, claimed.id)
  })
  if (done?.state === 'done') return { kind: 'done', purchase: done, isReplay: false }
  const other = await findPurchase(ctx.db, key)
  if (other?.state === 'done') return replay(other, offer)
  throw usedAlready()
}

/** A buyer who paid a quote gets the service even if it is no longer for sale. */
function notForSale(error: unknown, { claim }: TransferEvidence): ApiError {
  if (claim !== undefined && error instanceof ApiError && error.kind === 'not_found') return error
  throw error
}

function replay(purchase: PurchaseIn<'done'>, { wanted }: Offer): PurchaseResult {
  if (!isSameRequest(purchase, wanted)) throw usedAlready()
  return { kind: 'done', purchase, isReplay: true }
}

/** The transfer, undefined while it may still be confirmed, or why it is not accepted. */
async function findTransfer(
  ctx: PurchaseContext,
  { network, reference }: Pick<Sent, 'network' | 'reference'>,
  { payer }: TransferEvidence,
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
function bind(
  ctx: PurchaseContext,
  { subject, today }: { readonly subject: string; readonly today: Usdc | undefined },
  { payer, attachedData: attached, at, amount }: IncomingTransfer,
  evidence: TransferEvidence,
): { readonly binding: Binding; readonly due: Usdc } | string {
  if (payer === null) return 'payer_unknown'
  const verdict = judgeReference(ctx, { attached, at }, subject, evidence.claim)
  // A later price change does not affect a quote that was paid.
  if (verdict.kind === 'bound')
    return amount < verdict.due ? UNDERPAID : { binding: 'reference', due: verdict.due }
  if (verdict.kind === 'rejected') return verdict.code
  if (today === undefined) return 'not_payable'
  if (amount < today) return UNDERPAID
  if (evidence.payer !== undefined) return { binding: 'payer', due: today }
  // A transfer for something else hardly has this exact amount, and its payer can contest for an hour.
  return today > MAX_UNPROVEN || amount !== today ? BINDING_REQUIRED : { binding: 'none', due: today }
}

/** The transfer is already claimed for something else. */
function asUsed(error: unknown): never {
  const code = error instanceof ApiError ? error.extra.code : undefined
  throw code === 'transfer_used' || code === 'already_paid' ? usedAlready() : error
}
