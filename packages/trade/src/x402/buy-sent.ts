import type { IncomingTransfer } from '@market/core/ports/chain'
import { ApiError } from '@market/kernel/api-error'
import { earlier, HOUR, later, MINUTE } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { findPayment } from '@market/money/payments'
import { isAwaited, owesPayment } from '../orders/index.ts'
import { inProgress, usedAlready } from './errors.ts'
import { fulfil } from './fulfil.ts'
import { judgeReference } from './payment-reference.ts'
import { pollUntil } from './poll-until.ts'
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
import { claimPurchase, findPurchase, isSettlement, lockPurchase, saveDone } from './store.ts'
import { takeOver } from './take-over.ts'

type Sent = Extract<PaymentCredential, { kind: 'transaction' }>

/** A payment that is older was made for something else. */
const OLDEST_MS = 1 * HOUR
const CLOCK_SLACK_MS = 1 * MINUTE
/** Above this whoever asks must show that they are who paid: everybody can read a transaction's hash. */
const MOST_UNBOUND = usdc(25_000_000n)
const ANYTHING = usdc(1n)
const UNDERPAID = 'underpaid'
const BINDING_REQUIRED = 'binding_required'
const RETRY_SECONDS = 3

/** The spec's own way: the buyer has paid and names the transaction. It buys one thing, whoever asks. */
export async function buySent(
  ctx: PurchaseContext,
  offer: Offer,
  sent: Sent,
  shown: TransferEvidence,
): Promise<PurchaseResult> {
  const { network } = sent
  const reference = ctx.chains[network]?.normalize(sent.reference) ?? sent.reference
  const key = { network, kind: 'transaction', proof: reference } as const
  const known = await findPurchase(ctx.db, key)
  if (known?.state === 'done') return (await takeOver(ctx, offer, known, shown)) ?? replay(known, offer)
  if (await isSettlement(ctx.db, network, reference)) throw usedAlready()

  const quote = await offer.quote().catch((error: unknown) => offTheMarket(error, shown))
  const askAgain = (problem: PaymentProblem, retryAfterSeconds?: number): PurchaseResult => {
    if (quote instanceof ApiError) throw retryAfterSeconds === undefined ? quote : inProgress()
    return { kind: 'quote', quote, problem, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  }
  if (!(quote instanceof ApiError) && !quote.ways.some((way) => way.network === network))
    return askAgain({ code: 'network_not_accepted' })
  const seen = await look(ctx, { network, reference }, shown)
  if (seen !== undefined && 'code' in seen) return askAgain(seen)
  if (seen === undefined) return askAgain({ code: 'transaction_not_found_yet' }, RETRY_SECONDS)
  const today = quote instanceof ApiError ? undefined : quote.due
  const bound = bind(ctx, { subject: offer.wanted.subject, today }, seen, shown)
  if (typeof bound === 'string') return askAgain({ code: bound })
  const { binding, due } = bound
  // An order of a buyer who is known waits for it, or its payer has shown once that it was another's.
  const isDoubtful = known !== undefined || (await isAwaited(ctx.db, network, reference))
  if (binding === 'none' && isDoubtful) throw usedAlready()
  // It may be for that order, by whose buyer it will be named later than by whoever reads the chain.
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

/** Who was given a quote and has paid it is served, even when nobody else can buy it any more. */
function offTheMarket(error: unknown, { claim }: TransferEvidence): ApiError {
  if (claim !== undefined && error instanceof ApiError && error.kind === 'not_found') return error
  throw error
}

function replay(purchase: PurchaseIn<'done'>, { wanted }: Offer): PurchaseResult {
  if (!isSameRequest(purchase, wanted)) throw usedAlready()
  return { kind: 'done', purchase, isReplay: true }
}

/** The transfer, undefined while it may still come, or the word for why it will not do; what is due, it itself may tell. */
async function look(
  ctx: PurchaseContext,
  { network, reference }: Pick<Sent, 'network' | 'reference'>,
  { payer }: TransferEvidence,
): Promise<IncomingTransfer | PaymentProblem | undefined> {
  const now = ctx.clock.now()
  try {
    return await pollUntil(() =>
      findPayment(ctx, network, {
        reference,
        minAmount: ANYTHING,
        notBefore: earlier(now, OLDEST_MS),
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

/** How the payment is bound to who asks, and what is due; or the word for why it will not do. */
function bind(
  ctx: PurchaseContext,
  { subject, today }: { readonly subject: string; readonly today: Usdc | undefined },
  { payer, attachedData: attached, at, amount }: IncomingTransfer,
  shown: TransferEvidence,
): { readonly binding: Binding; readonly due: Usdc } | string {
  if (payer === null) return 'payer_unknown'
  const verdict = judgeReference(ctx, { attached, at }, subject, shown.claim)
  // A price that changed since is not the concern of who was told another one and has paid it.
  if (verdict.kind === 'bound')
    return amount < verdict.due ? UNDERPAID : { binding: 'reference', due: verdict.due }
  if (verdict.kind === 'rejected') return verdict.why
  if (today === undefined) return 'not_payable'
  if (amount < today) return UNDERPAID
  if (shown.payer !== undefined) return { binding: 'payer', due: today }
  // What was paid for something else would hardly be this very amount; that it was not is shown within the hour.
  return today > MOST_UNBOUND || amount !== today ? BINDING_REQUIRED : { binding: 'none', due: today }
}

/** The books know the transfer as the payment of something else. */
function asUsed(error: unknown): never {
  const code = error instanceof ApiError ? error.extra.code : undefined
  throw code === 'transfer_used' || code === 'already_paid' ? usedAlready() : error
}
