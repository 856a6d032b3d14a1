import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { EVER, FOREVER } from '@market/kernel/clock'
import { findPayment, lockTransfer, unclaimTransfer } from '@market/money/payments'
import { cancelContested, type ReleaseContested } from '../orders/index.ts'
import { contested, usedAlready } from './errors.ts'
import { fulfil } from './fulfil.ts'
import {
  isSameRequest,
  type Offer,
  type PurchaseContext,
  type PurchaseIn,
  type PurchaseResult,
  type TransferEvidence,
} from './purchase.ts'
import { findPurchase, lockPurchase, saveContested, saveTakenOver } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

/** Whether the purchase was made by naming a transfer of one of these wallets, without proof. */
const isContestable = (purchase: PurchaseIn<'done'>, wallets: readonly string[]): boolean =>
  purchase.kind === 'transaction' &&
  purchase.binding === 'none' &&
  purchase.subject.startsWith('service:') &&
  purchase.payer !== null &&
  wallets.includes(purchase.payer)

/**
 * Releases a payment with which another caller bought a service, for the caller who has proven to have made it. Before the
 * delivery the other order is cancelled; after it the order is disputed, and the result is the error that says so.
 * Nothing happens when there is no such purchase, when it is the order that is to be paid, or when the hour is over.
 */
export async function contest(
  ctx: Ctx,
  tx: Tx,
  { network, reference, orderId, payers }: Parameters<ReleaseContested>[1],
): ReturnType<ReleaseContested> {
  const purchase = await findPurchase(tx, { network, kind: 'transaction', proof: reference })
  if (purchase?.state !== 'done' || purchase.resultId === orderId || !isContestable(purchase, payers))
    return 'unchanged'
  const outcome = await release(ctx, tx, purchase)
  if (outcome === 'disputed') return contested()
  return outcome === 'released' ? 'released' : 'unchanged'
}

/** False when the purchase changed or can no longer be cancelled; disputed when an operator decides. */
async function release(
  ctx: Ctx,
  tx: Tx,
  purchase: PurchaseIn<'done'>,
): Promise<'released' | 'disputed' | false> {
  const locked = await lockPurchase(tx, purchase.id)
  if (locked.state !== 'done' || locked.resultId !== purchase.resultId) return false
  const transfer = await lockTransfer(tx, purchase.network, purchase.reference)
  if (transfer?.purpose?.kind !== 'order' || transfer.purpose.id !== purchase.resultId) return false
  const { purpose } = transfer
  const outcome = await cancelContested(ctx, tx, { ...transfer, purpose }, `wallet:${purchase.payer}`)
  if (outcome !== 'cancelled') return outcome
  if (!(await unclaimTransfer(ctx, tx, transfer)))
    throw new Error(`${purchase.reference} was already used in part`)
  await saveContested(tx, purchase.id, ctx.clock.now())
  return 'released'
}

/**
 * Anybody can read a transaction hash, so another caller may have bought something with this payment. For an hour the
 * payer's signature replaces that purchase by the payer's own; after a delivery an operator decides. Undefined when there
 * is nothing to replace.
 */
export async function takeOver(
  ctx: PurchaseContext,
  { wanted, quote }: Offer,
  purchase: PurchaseIn<'done'>,
  { payer }: TransferEvidence,
): Promise<PurchaseResult | undefined> {
  if (payer === undefined || !isContestable(purchase, [payer]) || isSameRequest(purchase, wanted))
    return undefined
  const { due } = await quote()
  if (due > purchase.due) throw usedAlready()
  const { network, reference } = purchase
  const query = { reference, minAmount: due, payers: [payer], notBefore: EVER, notAfter: FOREVER }
  const seen = await findPayment(ctx, network, query)
  if (seen === undefined) throw usedAlready()
  const taken = await ctx.transact(async (tx) => {
    const released = await release(ctx, tx, purchase)
    if (released === false) throw usedAlready()
    if (released === 'disputed') return undefined
    const resultId = await fulfil(ctx, tx, { ...purchase, ...wanted, due, binding: 'payer' }, seen)
    await saveTakenOver(tx, purchase.id, { ...wanted, resultId, due }, ctx.clock.now())
    return lockPurchase(tx, purchase.id)
  })
  if (taken === undefined) throw contested()
  return taken.state === 'done' ? { kind: 'done', purchase: taken, isReplay: false } : undefined
}
