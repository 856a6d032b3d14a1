import type { Facilitator, Facilitators, PaymentProof, SignedPayment } from '@market/core/ports/facilitator'
import { currentEpoch } from '@market/database/epoch'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { later, SECOND } from '@market/kernel/clock'
import {
  hasTooManyFailed,
  insufficientFunds,
  isInsufficient,
  mismatchIn,
  pollUntil,
  requirementOn,
} from '@market/money/payments'
import { ownService } from '../orders/index.ts'
import { inProgress, usedAlready } from './errors.ts'
import {
  isSameRequest,
  type Offer,
  type PaymentCredential,
  type PaymentProblem,
  type Purchase,
  type PurchaseContext,
  type PurchaseIn,
  type PurchaseResult,
  type X402Reason,
} from './purchase.ts'
import type { Quote } from './quote.ts'
import { settlePurchase } from './settle-purchase.ts'
import { claimPurchase, findPurchase, saveVoid } from './store.ts'
import { boughtBefore, submitPayment } from './submit-payment.ts'

type SignedCredential = Extract<PaymentCredential, { kind: 'signed' }>

/** Longer than verifying and signing take. */
const LEASE_MS = 30 * SECOND

/**
 * Buys with a payment that the buyer signed and we submit. It is claimed first, so that of several copies one is
 * submitted, and stored before it is submitted, so that a crash leaves no payment without its purchase. After that the
 * response is never 402 again, unless the payment can no longer take effect.
 */
export async function buySigned(
  ctx: PurchaseContext,
  offer: Offer,
  signed: SignedCredential,
): Promise<PurchaseResult> {
  const facilitator = facilitatorOf(ctx.facilitators, signed)
  if (facilitator === undefined)
    return { kind: 'quote', quote: await offer.quote(), problem: { code: NO_MATCH } }
  const proof = facilitator.parsePayment(signed.payment)
  if (proof === undefined)
    throw new ApiError(
      'invalid',
      'The payload is not a payment of the exact scheme on its network. Sign one of the requirements in accepts.',
      {
        code: 'malformed_payment',
      },
    )
  const key = { network: facilitator.network, kind: proof.kind, proof: proof.proof }
  const known = await findPurchase(ctx.db, key)
  if (known !== undefined && (await isClaimed(ctx, known))) return follow(ctx, offer, known, key)

  if (offer.payer !== undefined && offer.payer !== proof.payer) throw ownerNotPayer()
  const today = await offer.quote()
  const quote = await findMatch(offer, today, signed, facilitator)
  if (quote === undefined) return { kind: 'quote', quote: today, problem: { code: NO_MATCH } }
  await rejectSellersWallet(offer, quote, facilitator, proof, signed.payment)
  const purchase = await claim(ctx, offer, quote, facilitator, proof)
  if (purchase === undefined) {
    const other = await findPurchase(ctx.db, key)
    if (other === undefined) throw inProgress()
    return follow(ctx, offer, other, key)
  }
  return pay(ctx, facilitator, offer, purchase, quote, signed.payment)
}

/** Only with the wallet's valid signature: without it nobody learns which wallets an account has. */
async function rejectSellersWallet(
  offer: Offer,
  { due }: Quote,
  facilitator: Facilitator,
  { payer }: PaymentProof,
  payment: SignedPayment,
): Promise<void> {
  if (!(await offer.isSellersWallet?.(payer))) return
  if (isProven(await facilitator.rejectionReason(payment, due))) throw ownService()
}

const NO_MATCH = 'no_matching_requirements'

/** Chains describe why a payment is void in a sentence; the response needs a code. */
export const problemOf = (reason: string | null): PaymentProblem => {
  if (reason === null) return { code: NO_MATCH }
  return /^[a-z0-9_]+$/.test(reason)
    ? { code: reason as X402Reason }
    : { code: 'payment_void', message: `The payment did not take effect: ${reason}. Pay again.` }
}

const problemFor = async (
  ctx: PurchaseContext,
  purchase: Purchase,
  reason: string | null,
): Promise<PaymentProblem> => {
  // fix: insufficient-funds-named
  if (reason !== null && isInsufficient(reason))
    return { code: reason as X402Reason, message: await insufficientFunds(ctx, purchase) }
  return problemOf(reason)
}

const facilitatorOf = (all: Facilitators, { version, network }: SignedCredential): Facilitator | undefined =>
  Object.values(all).find((one) => (version === 2 ? one.caip2 : one.v1) === network)

async function isClaimed({ db, clock }: PurchaseContext, purchase: Purchase): Promise<boolean> {
  if (purchase.state !== 'claimed') return purchase.state !== 'void'
  return purchase.leaseUntil >= clock.now() && purchase.databaseEpoch === (await currentEpoch(db))
}

const ownerNotPayer = (): ApiError =>
  new ApiError(
    'invalid',
    'owner_wallet is not the wallet that pays. Pay with owner_wallet, or leave it out.',
    {
      code: 'owner_wallet_not_payer',
      details: [{ path: 'owner_wallet', message: 'must be the wallet that pays' }],
    },
  )

/** The quote that the payment was signed for: the current one, or one with a price of the last hour. */
async function findMatch(
  offer: Offer,
  today: Quote,
  signed: SignedCredential,
  facilitator: Facilitator,
): Promise<Quote | undefined> {
  if (isMatch(today, signed, facilitator)) return today
  // Version 1 does not say for which amount it was signed.
  if (signed.version === 1) return undefined
  const recent = (await offer.recentDues()).map((due) => ({ ...today, due }))
  return recent.find((quote) => isMatch(quote, signed, facilitator))
}

/** The payment must meet the requirements: it may be signed for an older price or another service. */
function isMatch(
  { due, ways }: Quote,
  { version, accepted }: SignedCredential,
  facilitator: Facilitator,
): boolean {
  const { network, v1 } = facilitator
  const way = ways.find((one) => one.network === network)
  if (way === undefined) return false
  if (version === 1) return accepted['scheme'] === 'exact' && accepted['network'] === v1
  return mismatchIn(accepted, requirementOn(way.chain, facilitator, due)) === undefined
}

const claim = (
  ctx: PurchaseContext,
  { wanted }: Offer,
  { due }: Quote,
  { network }: Facilitator,
  { kind, proof, payer }: PaymentProof,
): Promise<Purchase | undefined> => {
  const now = ctx.clock.now()
  return ctx.transact((tx) =>
    claimPurchase(
      tx,
      {
        ...{ ...wanted, network, kind, proof, payer, due, id: ctx.ids.next('hir'), binding: 'signed' },
        ...{ state: 'claimed', leaseUntil: later(now, LEASE_MS), createdAt: now },
      },
      now,
    ),
  )
}

async function pay(
  ctx: PurchaseContext,
  facilitator: Facilitator,
  offer: Offer,
  purchase: Purchase,
  quote: Quote,
  payment: SignedPayment,
): Promise<PurchaseResult> {
  try {
    const rejection =
      (await tooManyFailed(ctx, purchase)) ?? (await facilitator.rejectionReason(payment, purchase.due))
    const before = isProven(rejection) ? await boughtBefore(ctx, ctx.db, purchase) : undefined
    const sent = before ?? rejection ?? (await submitPayment(ctx, facilitator, purchase, payment))
    if (typeof sent === 'string') {
      await saveVoid(ctx.db, purchase, sent, ctx.clock.now())
      return { kind: 'quote', quote, problem: await problemFor(ctx, purchase, sent) }
    }
    return sent.id === purchase.id && sent.state === 'sent'
      ? await awaitSettlement(ctx, sent, quote)
      : await replayPurchase(ctx, offer, purchase, sent)
  } catch (error) {
    // A claimed payment was not submitted, so it can be tried again at once.
    await saveVoid(ctx.db, purchase, TRY_AGAIN, ctx.clock.now()).catch(() => undefined)
    throw error
  }
}

/** The payment was not rejected: a dependency of ours was unavailable. */
const TRY_AGAIN = 'try_again'

/**
 * Whether the payer's signature is valid, whatever else is wrong. Without it, no purchase of the key is revealed. The
 * first payment may have spent the balance, which facilitators check after the signature.
 */
const isProven = (rejection: string | undefined): boolean =>
  rejection === undefined || isInsufficient(rejection)

const BOUGHT_BEFORE = 'bought_before'

/** Returns the first purchase of the key. The new payment is not submitted. */
async function replayPurchase(
  ctx: PurchaseContext,
  offer: Offer,
  purchase: Purchase,
  before: PurchaseIn<'sent' | 'done'>,
): Promise<PurchaseResult> {
  await saveVoid(ctx.db, purchase, BOUGHT_BEFORE, ctx.clock.now())
  if (isSameRequest(before, offer.wanted)) return follow(ctx, offer, before, before)
  throw new ApiError(
    'conflict',
    'This Idempotency-Key was already used for a different purchase. You were not charged. Use a new key.',
    { code: 'payment_already_used' },
  )
}

const tooManyFailed = async (ctx: PurchaseContext, purchase: Purchase): Promise<string | undefined> =>
  (await hasTooManyFailed(ctx.db, purchase, ctx.clock.now())) ? 'too_many_failed_payments' : undefined

/** Another request has claimed this payment. The same request gets its result; a different one is rejected. */
async function follow(
  ctx: PurchaseContext,
  offer: Offer,
  first: Purchase,
  key: Parameters<typeof findPurchase>[1],
): Promise<PurchaseResult> {
  if (!isSameRequest(first, offer.wanted)) throw usedAlready()
  const purchase = first.state === 'claimed' ? await pollUntil(ctx, () => onceDecided(ctx, key)) : first
  switch (purchase?.state) {
    case 'done':
      return { kind: 'done', purchase, isReplay: true, isProven: isProvenBy(purchase) }
    case 'sent':
      return awaitSettlement(ctx, purchase, undefined, offer)
    case 'void':
      if (purchase.why === BOUGHT_BEFORE) throw inProgress()
      if (purchase.why === TRY_AGAIN)
        throw unavailable('The payment could not be verified now. Send the request again.')
      return {
        kind: 'quote',
        quote: await offer.quote(),
        problem: await problemFor(ctx, purchase, purchase.why),
      }
    default:
      throw inProgress()
  }
}

/** The key is in the request, because a replay without it is another request. */
const isProvenBy = ({ requestKey }: Purchase): boolean => requestKey !== null

const onceDecided = async (
  ctx: PurchaseContext,
  key: Parameters<typeof findPurchase>[1],
): Promise<Purchase | undefined> => {
  const purchase = await findPurchase(ctx.db, key)
  return purchase?.state === 'claimed' ? undefined : purchase
}

async function awaitSettlement(
  ctx: PurchaseContext,
  sent: PurchaseIn<'sent'>,
  quote: Quote | undefined,
  offer?: Offer,
): Promise<PurchaseResult> {
  const { network, reference } = sent
  const ended = await pollUntil(ctx, () => settlePurchase(ctx, sent))
  if (ended?.state === 'done') {
    const isReplay = quote === undefined
    return { kind: 'done', purchase: ended, isReplay, isProven: !isReplay || isProvenBy(ended) }
  }
  if (ended?.state === 'void') {
    const again = quote ?? (await offer?.quote())
    if (again !== undefined) return { kind: 'quote', quote: again, problem: problemOf(ended.why) }
  }
  return { kind: 'pending', network, reference }
}
