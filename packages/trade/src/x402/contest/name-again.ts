import type { IncomingTransfer } from '@market/core/ports/chain'
import { CommitThenReject, type Tx } from '@market/database/transact'
import { EVER, FOREVER } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import {
  findPayment,
  findTransferFor,
  type ReleaseContested,
  type Transfer,
  transferName,
} from '@market/money/payments'
import { ownService } from '../../orders/index.ts'
import { contested, inProgress, refunded, usedAlready } from '../errors.ts'
import { fulfil, possibleBuyers } from '../fulfil.ts'
import type { Offer, PurchaseContext, PurchaseIn, PurchaseResult } from '../purchase.ts'
import { findNamed, lockPurchase } from '../store.ts'
import { confirmPurchase, contestPurchase, endPurchase, lockBought, paidFor } from './end-purchase.ts'
import { releaseOrder } from './release-order.ts'
import { chooseDue, eventOf, NAMINGS } from './rules.ts'
import { signInstructions } from './signing.ts'
import { findNamings, lockNamed, saveNaming, saveReleased, saveReplaced } from './store.ts'

type Done = PurchaseIn<'done'>
type DoneResult = Extract<PurchaseResult, { kind: 'done' }>

/** The naming of a transfer that already bought something. */
interface Again {
  readonly purchase: Done
  readonly offer: Offer
  readonly transfer: Transfer
  readonly isSame: boolean
  readonly isSigned: boolean
  /** What the content costs. */
  readonly due: Usdc
  /** The transfer as the chain shows it; only for a replacement. */
  readonly seen: IncomingTransfer | undefined
}

/**
 * A request names a transfer that already bought something. `payer` is the wallet that signed for exactly this content.
 * The same content returns the purchase; another contests it; the payer's signature decides (`rules.ts`).
 */
export async function nameAgain(
  ctx: PurchaseContext,
  offer: Offer,
  purchase: Done,
  payer: string | undefined,
): Promise<PurchaseResult> {
  const isSigned = payer !== undefined && payer === purchase.payer
  const isSame = purchase.fingerprint.equals(offer.wanted.fingerprint)
  if (isSame && !isSigned) return replay(purchase, offer)
  if (!isSame && isSigned && (await offer.isSellersWallet?.(payer))) throw ownService()
  const transfer = await findTransferFor(ctx.db, paidFor(purchase))
  if (transfer === undefined) throw usedAlready()
  const due = isSame ? purchase.due : await priceOf(ctx, offer, { purchase, transfer, isSigned })
  if (typeof due === 'object') return due
  const seen = !isSame && isSigned ? await readTransfer(ctx, transfer) : undefined
  return ctx.transact((tx) => decide(ctx, tx, { purchase, offer, transfer, isSame, isSigned, due, seen }))
}

function replay(purchase: Done, { wanted }: Offer): DoneResult {
  const hasKey = purchase.requestKey === null || purchase.requestKey === wanted.requestKey
  if (!hasKey || !purchase.fingerprint.equals(wanted.fingerprint)) throw usedAlready()
  return { kind: 'done', purchase, isReplay: true, isProven: purchase.requestKey !== null }
}

/** The price of the other content, or the 402 response that says why the transfer does not pay it. */
async function priceOf(
  ctx: PurchaseContext,
  offer: Offer,
  { purchase, transfer, isSigned }: Pick<Again, 'purchase' | 'transfer' | 'isSigned'>,
): Promise<Usdc | PurchaseResult> {
  const namings = await findNamings(ctx.db, purchase.id)
  const named = namings.find(({ fingerprint }) => fingerprint.equals(offer.wanted.fingerprint))
  // Its payer signs for it days later: the price is the one at which it was named.
  if (named !== undefined && isSigned) return named.due
  const quote = await offer.quote()
  if (!quote.ways.some(({ network }) => network === purchase.network))
    return { kind: 'quote', quote, problem: { code: 'network_not_accepted' } }
  const { amount } = transfer
  const due = chooseDue(amount, quote.due, amount === quote.due ? [] : await offer.recentDues())
  return due ?? { kind: 'quote', quote, problem: { code: 'underpaid' } }
}

async function readTransfer(
  ctx: PurchaseContext,
  { network, reference, index, payer, amount }: Transfer,
): Promise<IncomingTransfer> {
  const payers = payer === null ? [] : [payer]
  const query = { reference, index, minAmount: amount, payers, notBefore: EVER, notAfter: FOREVER }
  const seen = await findPayment(ctx, network, query)
  if (seen === undefined) throw inProgress()
  return seen
}

async function decide(ctx: PurchaseContext, tx: Tx, again: Again): Promise<DoneResult | CommitThenReject> {
  const { offer, transfer, isSame, isSigned, due } = again
  const locked = await lockNamed(tx, again.purchase)
  const purchase = locked?.purchase
  if (purchase?.state !== 'done' || purchase.resultId !== again.purchase.resultId) throw inProgress()
  const status = await lockBought(tx, purchase, locked?.contestedAt ?? null)
  const hasKey = purchase.requestKey === null || purchase.requestKey === offer.wanted.requestKey
  const now = ctx.clock.now()
  const ageMs = now.getTime() - transfer.happenedAt.getTime()
  const sign = () => signInstructions(ctx, offer.wanted, { ...purchase, reference: purchase.reference })
  switch (NAMINGS[status][eventOf({ isSame, hasKey, isSigned, ageMs })]) {
    case 'replay':
      return { kind: 'done', purchase, isReplay: true, isProven: isSigned }
    case 'confirm':
      await confirmPurchase(ctx, tx, purchase)
      return { kind: 'done', purchase: { ...purchase, binding: 'payer' }, isReplay: true, isProven: true }
    case 'contest':
      await saveNaming(tx, purchase.id, { ...offer.wanted, due, at: now })
      if (status === 'unbound') await contestPurchase(ctx, tx, purchase)
      return new CommitThenReject(contested(sign()))
    case 'replace':
      return replace(ctx, tx, { ...again, purchase })
    case 'ask_to_sign':
      throw usedAlready(sign())
    case 'reject_contested':
      throw contested(sign())
    case 'reject':
      throw usedAlready()
  }
}

/** Ends the earlier purchase and fulfils the one that the payer signed for, in one transaction. */
async function replace(
  ctx: PurchaseContext,
  tx: Tx,
  { purchase, offer: { wanted }, due, seen }: Again,
): Promise<DoneResult | CommitThenReject> {
  if (seen === undefined) throw inProgress()
  const nextBuyers = possibleBuyers(wanted, seen.payer)
  if ((await endPurchase(ctx, tx, purchase, nextBuyers)) === 'refunded')
    return new CommitThenReject(refunded())
  const id = ctx.ids.next('hir')
  const resultId = await fulfil(ctx, tx, { ...purchase, ...wanted, id, due, binding: 'payer' }, seen)
  await saveReplaced(tx, purchase.id, { ...wanted, id, resultId, due }, ctx.clock.now())
  const replaced = await lockPurchase(tx, id)
  if (replaced.state !== 'done') throw new Error(`${id} was just bought`)
  return { kind: 'done', purchase: replaced, isReplay: false, isProven: true }
}

/**
 * A buyer pays an ordinary order with a transfer of a proven wallet that another caller used. The proof decides like a
 * signature: the other purchase or order ends. Nothing happens when there is none or its payer is proven.
 */
export const releaseContested: ReleaseContested = async (ctx, tx, { buyer, ...payment }) => {
  const { network, reference, index, purpose, payers } = payment
  const nextBuyers = [buyer]
  const named = await findNamed(tx, network, reference)
  const name = index === undefined ? undefined : transferName({ reference, index })
  const found = named.find(
    ({ state, proof, payer }) =>
      state === 'done' && payer !== null && payers.includes(payer) && (name === undefined || proof === name),
  )
  if (found === undefined)
    // fix: owner-takes-back
    return releaseOrder(ctx, tx, { ...payment, nextBuyers })
  if (found.state !== 'done' || found.resultId === purpose.id) return 'unchanged'
  const locked = await lockNamed(tx, found)
  const purchase = locked?.purchase
  if (purchase?.state !== 'done') return 'unchanged'
  const status = await lockBought(tx, purchase, locked?.contestedAt ?? null)
  if (status === 'bound' || status === 'ended') return 'unchanged'
  if ((await endPurchase(ctx, tx, purchase, nextBuyers)) === 'refunded') return refunded()
  await saveReleased(tx, purchase.id, ctx.clock.now())
  return 'released'
}
