import { setTimeout as pause } from 'node:timers/promises'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { CommitThenReject } from '@market/database/transact'
import { findUserOfWallet } from '@market/identity/accounts'
import { ApiError, type ErrorCode } from '@market/kernel/api-error'
import { EVER, earlier, FOREVER, HOUR, later, MINUTE, SECOND } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import {
  ANY_AMOUNT,
  findPayment,
  findUsedIndexes,
  isAwaited,
  isSubmittedByUs,
  lookUpPayment,
  normalizeReference,
  pollUntil,
  transferName,
} from '@market/money/payments'
import { hasOpenBountyOfWallet } from '@market/offers/bounties'
import { owesPayment, ownService } from '../orders/index.ts'
import { nameAgain } from './contest/name-again.ts'
import { releaseOrder } from './contest/release-order.ts'
import { chooseDue } from './contest/rules.ts'
import { purposeToSign, signInstructions } from './contest/signing.ts'
import { inProgress, usedAlready } from './errors.ts'
import { fulfil, possibleBuyers } from './fulfil.ts'
import { isIssuedClaim, judgeReference } from './payment-reference.ts'
import {
  type Binding,
  isSameRequest,
  type NamedPayment,
  type Offer,
  type PaymentProblem,
  type Purchase,
  type PurchaseContext,
  type PurchaseIn,
  type PurchaseRequest,
  type PurchaseResult,
  type TransferEvidence,
} from './purchase.ts'
import type { Quote } from './quote.ts'
import { claimPurchase, findNamed, findPurchase, lockPurchase, saveDone } from './store.ts'

/** An older transfer was made for something else. */
const MAX_AGE_MS = 1 * HOUR
const CLOCK_SLACK_MS = 1 * MINUTE
const UNDERPAID = 'underpaid'
const RETRY_SECONDS = 3
/** Less often than our own tables are read: each lookup is several queries of a node. */
const LOOKUP_INTERVAL_MS = 1 * SECOND

/** Buys with a transfer that the buyer already made and names by its transaction hash. One transfer buys one thing. */
export async function buySent(
  ctx: PurchaseContext,
  offer: Offer,
  sent: NamedPayment,
  evidence: TransferEvidence,
): Promise<PurchaseResult> {
  const { network } = sent
  const { isNetworkInferred } = sent
  const named = { network, isNetworkInferred, reference: normalizeReference(network, sent.reference) }
  const payer = await evidence.signer?.(purposeToSign(offer.wanted, named))
  return buyNamed(ctx, offer, named, { payer, claim: evidence.claim, ownWallets: evidence.ownWallets ?? [] })
}

type NamedTransaction = Pick<NamedPayment, 'network' | 'isNetworkInferred' | 'reference'>

/** What proves that the caller made the transfer: the wallet that signed, the secret of the quote, wallets of the caller. */
interface Proven {
  readonly payer: string | undefined
  readonly claim: string | undefined
  readonly ownWallets: readonly string[]
}

async function buyNamed(
  ctx: PurchaseContext,
  offer: Offer,
  named: NamedTransaction,
  proven: Proven,
): Promise<PurchaseResult> {
  const { network, reference } = named
  const { payer } = proven
  const { wanted } = offer
  const known = await findNamed(ctx.db, network, reference)
  const again = known.find((one) => isAgain(one, wanted, payer))
  if (again?.state === 'done') return nameAgain(ctx, offer, again, payer)
  if (await isSubmittedByUs(ctx.db, network, reference)) throw usedAlready()
  const other = await findContested(ctx, offer, named, payer, known)
  if (other !== undefined) return nameAgain(ctx, offer, other, payer)

  const quote = await offer.quote().catch((error: unknown) => notForSale(error, proven))
  const askAgain = (problem: PaymentProblem, retryAfterSeconds?: number): PurchaseResult => {
    if (quote instanceof ApiError) throw retryAfterSeconds === undefined ? quote : inProgress()
    return { kind: 'quote', quote, problem, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  }
  if (!(quote instanceof ApiError) && !quote.ways.some((way) => way.network === network))
    return askAgain({ code: 'network_not_accepted' })
  const expected = quote instanceof ApiError ? undefined : quote.due
  const canWait = payer !== undefined || isIssuedClaim(ctx, wanted.subject, proven.claim)
  const seen = await findTransfer(ctx, named, canWait, payer ?? offer.payer, expected)
  if (seen !== undefined && 'code' in seen)
    return askAgain(
      payer === undefined && seen.code === 'wrong_payer' ? { code: 'owner_wallet_not_payer' } : seen,
    )
  if (seen === undefined) return askAgain(notFoundYet(named, quote), RETRY_SECONDS)
  const bound = await bind(ctx, offer, quote, seen, proven)
  if (typeof bound === 'string') return askAgain({ code: bound })
  const { binding, due } = bound
  const key = { network, kind: 'transaction', proof: transferName(seen) } as const
  const isReleased = known.some(({ proof, state }) => proof === key.proof && state !== 'done')
  if (binding === 'none' && seen.payer !== null) {
    // An account's order waits for this transfer, or its payer used it for an order of another kind.
    if (isReleased || (await isAwaited(ctx.db, { ...named, payer: seen.payer }))) throw usedAlready()
    if (await needsSignature(ctx, seen.payer, seen.amount))
      return askAgain({ code: 'binding_required', sign: signInstructions(ctx, wanted, { ...seen, network }) })
  }

  // After the signature: without it nobody learns which wallets an account has. The transfer stays unused.
  if (seen.payer !== null && (await offer.isSellersWallet?.(seen.payer))) throw ownService()

  const now = ctx.clock.now()
  const payoutWaitMs = binding === 'none' && !(quote instanceof ApiError) ? quote.payoutWaitMs : null
  const bought = await ctx.transact(async (tx) => {
    if (binding === 'payer' && seen.payer !== null) {
      const nextBuyers = possibleBuyers(wanted, seen.payer)
      const transfer = { network, reference, index: seen.index, payers: [seen.payer], nextBuyers }
      const released = await releaseOrder(ctx, tx, transfer)
      if (released instanceof ApiError) return new CommitThenReject(released)
    }
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
  if (bought?.state === 'done') return { kind: 'done', purchase: bought, isReplay: false, isProven: true }
  // Another request bought with it first. One of the transaction's other transfers may be this buyer's.
  const winner = await findPurchase(ctx.db, key)
  if (winner?.state !== 'done') throw usedAlready()
  return buyNamed(ctx, offer, named, proven)
}

/** Whether the purchase was made by the same request. */
const isAgain = (purchase: Purchase, wanted: PurchaseRequest, payer: string | undefined): boolean =>
  isSameRequest(purchase, wanted) && (payer === undefined || payer === purchase.payer)

/**
 * The purchase that this naming contests, when no unused transfer of the transaction fits. Of several, one whose payer is
 * not proven: a wallet that pays several things in one transaction confirms its own purchases one by one, and what remains
 * was bought by another caller.
 */
async function findContested(
  ctx: PurchaseContext,
  offer: Offer,
  { network, reference }: NamedTransaction,
  payer: string | undefined,
  known: readonly Purchase[],
): Promise<PurchaseIn<'done'> | undefined> {
  const done = known.filter((purchase) => purchase.state === 'done')
  const own = done.filter((purchase) => payer === undefined || purchase.payer === payer)
  // fix: unbound-purchase-first
  const [first] = (own.length === 0 ? done : own).toSorted(
    (a, b) => Number(a.binding !== 'none') - Number(b.binding !== 'none'),
  )
  if (first === undefined) return undefined
  const used = await findUsedIndexes(ctx.db, network, reference)
  const seen = await offer
    .quote()
    .then(({ due }) =>
      findPayment(ctx, network, {
        reference,
        minAmount: due,
        notBefore: EVER,
        notAfter: FOREVER,
        ...(payer !== undefined && { payers: [payer] }),
      }),
    )
    .catch(rethrowUnlessRejected)
  return seen === undefined || used.includes(seen.index) ? first : undefined
}

/** Whether the transfer fits is unknown when the chain was not asked. */
function rethrowUnlessRejected(error: unknown): undefined {
  const isAsked = error instanceof ApiError && error.kind !== 'unavailable' && error.kind !== 'rate_limited'
  if (!isAsked) throw error
}

/** A buyer who paid a quote gets the service even if it is no longer for sale. */
function notForSale(error: unknown, { claim }: Proven): ApiError {
  if (claim !== undefined && error instanceof ApiError && error.kind === 'not_found') return error
  throw error
}

/** Anybody could name a transfer first that an account made, or that its payer made for an order or a bounty. */
const needsSignature = async ({ db }: PurchaseContext, payer: string, amount: Usdc): Promise<boolean> =>
  (await findUserOfWallet(db, payer)) !== undefined ||
  (await owesPayment(db, payer, amount)) ||
  hasOpenBountyOfWallet(db, payer, amount)

/** A hash has the same form on every EVM network, so the buyer may have paid on the one that must be named. */
function notFoundYet(
  { network, isNetworkInferred }: NamedTransaction,
  quote: Quote | ApiError,
): PaymentProblem {
  const code = 'transaction_not_found_yet'
  const others = quote instanceof ApiError ? [] : quote.ways.map((way) => way.network)
  // fix: network-hint
  if (!isNetworkInferred || network !== 'base-mainnet' || !others.includes('alt-mainnet')) return { code }
  return {
    code,
    message: `The transaction is not on ${network} yet. Send the request again after Retry-After seconds. If you paid on alt-mainnet, send the header X-Payment-Network: alt-mainnet.`,
  }
}

/**
 * The transfer, undefined while it may still be confirmed, or why it is not accepted. A transaction that no node knows
 * may be invented, so it is looked up once, unless the caller proves to be the payer or to have our quote.
 */
async function findTransfer(
  ctx: PurchaseContext,
  { network, reference }: NamedTransaction,
  canWait: boolean,
  payer: string | undefined,
  expected: Usdc | undefined,
): Promise<IncomingTransfer | PaymentProblem | undefined> {
  const now = ctx.clock.now()
  const query = {
    reference,
    minAmount: ANY_AMOUNT,
    notBefore: earlier(now, MAX_AGE_MS),
    notAfter: later(now, CLOCK_SLACK_MS),
    sentByPayer: true,
    ...(payer !== undefined && { payers: [payer] }),
    ...(expected !== undefined && { expected }),
  } as const
  const transaction = `${network}:${reference}`
  if (!canWait && ctx.lookups.isUnknown(transaction)) return undefined
  try {
    const first = await lookUpPayment(ctx, network, query)
    if (typeof first !== 'string') return first
    if (first === 'unknown') ctx.lookups.recordUnknown(transaction)
    // fix: one-lookup
    if (first === 'unknown' && !canWait) return undefined
    return await waitForTransfer(ctx, () => findPayment(ctx, network, query))
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'invalid') throw error
    return { code: error.code, message: error.message }
  }
}

/** Each wait keeps a connection and queries nodes, so a caller has a few at once. */
async function waitForTransfer<T>(
  { lookups, resultWaitMs }: PurchaseContext,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const endWait = lookups.startWait()
  if (endWait === undefined) return undefined
  try {
    await pause(LOOKUP_INTERVAL_MS)
    return await pollUntil({ resultWaitMs }, find, LOOKUP_INTERVAL_MS)
  } finally {
    endWait()
  }
}

/** How the caller is proven to be the payer, and the amount due; or the code of why the payment is not accepted. */
async function bind(
  ctx: PurchaseContext,
  offer: Offer,
  quote: Quote | ApiError,
  { payer, attachedData: attached, at, amount }: IncomingTransfer,
  proven: Proven,
): Promise<{ readonly binding: Binding; readonly due: Usdc } | ErrorCode> {
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
  const isPayer = proven.payer !== undefined || proven.ownWallets.includes(payer)
  return { binding: isPayer ? 'payer' : 'none', due }
}

/** The transfer is already claimed for something else. */
function asUsed(error: unknown): never {
  const code = error instanceof ApiError ? error.extra.code : undefined
  throw code === 'transfer_used' || code === 'already_paid' ? usedAlready() : error
}
