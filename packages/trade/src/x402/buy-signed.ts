import type { Facilitator, Facilitators, PaymentProof, SignedPayment } from '@market/core/ports/facilitator'
import { type Db, type Tx, transact } from '@market/database/transact'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { earlier, HOUR, later, SECOND } from '@market/kernel/clock'
import { inProgress, usedAlready } from './errors.ts'
import { keepGasTransaction, takeNonce } from './gas/store.ts'
import { countFailed, findNamed, lockUnderWay } from './payer-store.ts'
import { pollUntil } from './poll-until.ts'
import {
  isSameRequest,
  type Offer,
  type PaymentCredential,
  type Purchase,
  type PurchaseContext,
  type PurchaseIn,
  type PurchaseResult,
} from './purchase.ts'
import { type Quote, type Requirement, requirementsOf } from './quote.ts'
import { settlePurchase } from './settle-purchase.ts'
import { claimPurchase, findPurchase, saveSent, saveVoid } from './store.ts'

type Signed = Extract<PaymentCredential, { kind: 'signed' }>

/** Longer than it takes to check a payment and to sign for it. */
const LEASE_MS = 30 * SECOND

/**
 * A payment that the buyer signed and we bring to the chain. Claimed first, so that of any number of copies one is sent;
 * written down before it is sent, so that nobody who dies on the way leaves a payment without its purchase. From then
 * on the answer is "done" or "wait", and "pay" only once it can no longer take effect.
 */
export async function buySigned(ctx: PurchaseContext, offer: Offer, signed: Signed): Promise<PurchaseResult> {
  const facilitator = facilitatorOf(ctx.facilitators, signed)
  if (facilitator === undefined)
    return { kind: 'quote', quote: await offer.quote(), problem: { code: NO_MATCH } }
  const proof = facilitator.parsePayment(signed.payment)
  if (proof === undefined)
    throw new ApiError('invalid', 'The payment’s payload is none of the exact scheme on its network', {
      code: 'malformed_payment',
    })
  const key = { network: facilitator.network, kind: proof.kind, proof: proof.proof }
  const known = await findPurchase(ctx.db, key)
  if (known !== undefined && isTaken(known, ctx.clock.now())) return follow(ctx, offer, known, key)

  const quote = await offer.quote()
  if (!isMatch(quote, signed, facilitator)) return { kind: 'quote', quote, problem: { code: NO_MATCH } }
  const purchase = await claim(ctx, offer, quote, facilitator, proof)
  if (purchase === undefined) {
    const other = await findPurchase(ctx.db, key)
    if (other === undefined) throw inProgress()
    return follow(ctx, offer, other, key)
  }
  return pay(ctx, facilitator, offer, purchase, quote, signed.payment)
}

const NO_MATCH = 'no_matching_requirements'

const facilitatorOf = (all: Facilitators, { version, network }: Signed): Facilitator | undefined =>
  Object.values(all).find((one) => (version === 2 ? one.caip2 : one.v1) === network)

const isTaken = (purchase: Purchase, now: Date): boolean =>
  purchase.state === 'sent' ||
  purchase.state === 'done' ||
  (purchase.state === 'claimed' && purchase.leaseUntil >= now)

/** Only what is asked for now counts: the buyer may have signed for an older price, or for another service. */
function isMatch({ due, ways }: Quote, { version, accepted }: Signed, { network, v1 }: Facilitator): boolean {
  const way = ways.find((one) => one.network === network)
  if (way === undefined) return false
  if (version === 1) return accepted['scheme'] === 'exact' && accepted['network'] === v1
  const [wanted] = requirementsOf({ due, ways: [way] })
  return wanted !== undefined && MATCHED.every((field) => sameText(accepted[field], wanted[field]))
}

const MATCHED = ['scheme', 'network', 'amount', 'asset', 'payTo'] as const satisfies (keyof Requirement)[]
const sameText = (said: unknown, wanted: string): boolean =>
  typeof said === 'string' &&
  (said === wanted || (wanted.startsWith('0x') && said.toLowerCase() === wanted.toLowerCase()))

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
    const apiError =
      (await unreliable(ctx, purchase)) ?? (await facilitator.rejectionReason(payment, purchase.due))
    const before = isProven(apiError) ? await boughtBefore(ctx, ctx.db, purchase) : undefined
    const sent = before ?? apiError ?? (await signFor(ctx, facilitator, purchase, payment))
    if (typeof sent === 'string') {
      await saveVoid(ctx.db, purchase, sent, ctx.clock.now())
      return { kind: 'quote', quote, problem: { code: sent } }
    }
    if (sent.state === 'done' || sent.id !== purchase.id)
      return await replayPurchase(ctx, offer, purchase, sent)
    // Whether it arrived is asked of the chain, whatever the sending said.
    await facilitator.send(sent.settlement).catch(() => undefined)
    return await answerOf(ctx, sent, quote)
  } catch (error) {
    // Nothing was sent as long as it is only claimed: the same payment may be tried again at once.
    await saveVoid(ctx.db, purchase, TRY_AGAIN, ctx.clock.now()).catch(() => undefined)
    throw error
  }
}

/** Said of a payment that nobody found anything wrong with: a part of ours was away. */
const TRY_AGAIN = 'try_again'

/**
 * A program whose answer was lost asks again under the same word, and its client, told to pay, signs a new payment. So
 * long the word stands for what it bought first.
 */
const NAMED_FOR_MS = 24 * HOUR

const boughtBefore = (ctx: PurchaseContext, db: Db | Tx, purchase: Purchase) =>
  findNamed(db, purchase, earlier(ctx.clock.now(), NAMED_FOR_MS))

/**
 * Whether the payer has signed, whatever else is wrong. Nobody else may learn what was bought under a word, so nothing
 * is looked up before. The first payment may have taken all there was: a facilitator says so after it saw the signature.
 */
const isProven = (apiError: string | undefined): boolean => apiError === undefined || TOO_POOR.has(apiError)
const TOO_POOR: ReadonlySet<string> = new Set([
  'invalid_exact_evm_insufficient_balance',
  'insufficient_funds',
])

const BOUGHT_BEFORE = 'bought_before'

/** To what the word stands for. What was signed this time is not needed, and never sent. */
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
    'This Idempotency-Key or payment identifier stands for something else that you bought. Nothing was charged: take another one.',
    { code: 'payment_already_used' },
  )
}

/** Each payment that comes to nothing on the chain costs us its gas: a wallet whose payments do is left alone for a while. */
const MOST_FAILED = 5
const FAILED_WITHIN_MS = 1 * HOUR

async function unreliable(ctx: PurchaseContext, purchase: Purchase): Promise<string | undefined> {
  const since = earlier(ctx.clock.now(), FAILED_WITHIN_MS)
  return (await countFailed(ctx.db, purchase, since)) < MOST_FAILED ? undefined : 'too_many_failed_payments'
}

/**
 * Number, signature and bytes are written down together: a number that was given is never without its bytes. One balance
 * signed for many times would cost gas for each, so what is under way of a wallet counts against it; tells the word for
 * that instead. A wallet's payments wait for each other here, so of two under the same word one is sent; tells the other
 * what that is.
 */
async function signFor(
  ctx: PurchaseContext,
  facilitator: Facilitator,
  purchase: Purchase,
  payment: SignedPayment,
): Promise<PurchaseIn<'sent' | 'done'> | string> {
  const terms = await facilitator.readTerms()
  const balance =
    purchase.payer === null ? undefined : await ctx.chains[purchase.network]?.balanceOf(purchase.payer)
  return transact<PurchaseIn<'sent' | 'done'> | string>(ctx.db, async (tx) => {
    const { network, gasAccount } = facilitator
    const underWay = await lockUnderWay(tx, purchase)
    const before = await boughtBefore(ctx, tx, purchase)
    if (before !== undefined) return before
    if (balance !== undefined && balance.latest < underWay + purchase.due) return 'insufficient_funds'
    const { nextNonce } = terms
    const nonce = nextNonce === null ? null : await takeNonce(tx, network, gasAccount, nextNonce)
    const settlement = await facilitator.sign(payment, terms, nonce)
    const broadcast = { payment, settlement }
    if (!(await saveSent(tx, purchase, broadcast, ctx.clock.now()))) throw inProgress()
    if (nonce !== null) await keepGasTransaction(tx, network, nonce, settlement.bytes)
    return { ...purchase, state: 'sent', ...broadcast }
  })
}

/** Another request has this payment: it is the same purchase, or none of this caller's business. */
async function follow(
  ctx: PurchaseContext,
  offer: Offer,
  first: Purchase,
  key: Parameters<typeof findPurchase>[1],
): Promise<PurchaseResult> {
  if (!isSameRequest(first, offer.wanted)) throw usedAlready()
  const purchase = first.state === 'claimed' ? await pollUntil(() => onceDecided(ctx, key)) : first
  switch (purchase?.state) {
    case 'done':
      return { kind: 'done', purchase, isReplay: true }
    case 'sent':
      return answerOf(ctx, purchase, undefined, offer)
    case 'void':
      if (purchase.why === BOUGHT_BEFORE) throw inProgress()
      if (purchase.why === TRY_AGAIN)
        throw unavailable('The payment could not be checked at the moment: send it again')
      return { kind: 'quote', quote: await offer.quote(), problem: { code: purchase.why ?? NO_MATCH } }
    default:
      throw inProgress()
  }
}

const onceDecided = async (
  ctx: PurchaseContext,
  key: Parameters<typeof findPurchase>[1],
): Promise<Purchase | undefined> => {
  const purchase = await findPurchase(ctx.db, key)
  return purchase?.state === 'claimed' ? undefined : purchase
}

async function answerOf(
  ctx: PurchaseContext,
  sent: PurchaseIn<'sent'>,
  quote: Quote | undefined,
  offer?: Offer,
): Promise<PurchaseResult> {
  const { network, settlement } = sent
  const ended = await pollUntil(() => settlePurchase(ctx, sent))
  if (ended?.state === 'done') return { kind: 'done', purchase: ended, isReplay: quote === undefined }
  if (ended?.state === 'void') {
    const again = quote ?? (await offer?.quote())
    if (again !== undefined) return { kind: 'quote', quote: again, problem: { code: ended.why ?? NO_MATCH } }
  }
  return { kind: 'pending', network, reference: settlement.reference }
}
