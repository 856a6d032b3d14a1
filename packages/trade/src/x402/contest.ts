import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { ApiError } from '@market/kernel/api-error'
import { lockTransfer, unclaimTransfer } from '@market/money/payments'
import { cancelContested, type ReleaseContested } from '../orders/index.ts'
import { contested } from './errors.ts'
import type { PurchaseIn } from './purchase.ts'
import { findPurchase, lockPurchase, saveContested } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

/** Whether somebody hired by naming a payment that this wallet made. */
export const isContestable = (purchase: PurchaseIn<'done'>, wallets: readonly string[]): boolean =>
  purchase.kind === 'transaction' &&
  purchase.binding === 'none' &&
  purchase.subject.startsWith('service:') &&
  purchase.payer !== null &&
  wallets.includes(purchase.payer)

/**
 * Frees a payment with which another caller bought a service, for the caller who has proven to have made it. Before the
 * delivery the other order is cancelled; after it the order is disputed, and the result is the error that says so.
 * Nothing happens when there is no such purchase, when it is the order that is to be paid, or when the hour is over.
 */
export async function contest(
  ctx: Ctx,
  tx: Tx,
  { network, reference, orderId, payers }: Parameters<ReleaseContested>[1],
): Promise<ApiError | undefined> {
  const purchase = await findPurchase(tx, { network, kind: 'transaction', proof: reference })
  if (purchase?.state !== 'done' || purchase.resultId === orderId || !isContestable(purchase, payers))
    return undefined
  return (await free(ctx, tx, purchase)) === 'disputed' ? contested() : undefined
}

/** False when the purchase changed meanwhile, or can no longer be given up; disputed when that is for an operator to say. */
export async function free(
  ctx: Ctx,
  tx: Tx,
  purchase: PurchaseIn<'done'>,
): Promise<'freed' | 'disputed' | false> {
  const locked = await lockPurchase(tx, purchase.id)
  if (locked.state !== 'done' || locked.resultId !== purchase.resultId) return false
  const transfer = await lockTransfer(tx, purchase.network, purchase.reference)
  if (transfer?.purpose?.kind !== 'order' || transfer.purpose.id !== purchase.resultId) return false
  const { purpose } = transfer
  const given = await cancelContested(ctx, tx, { ...transfer, purpose }, `wallet:${purchase.payer}`)
  if (given !== 'cancelled') return given
  if (!(await unclaimTransfer(ctx, tx, transfer))) throw new Error(`${purchase.reference} is not whole`)
  await saveContested(tx, purchase.id, ctx.clock.now())
  return 'freed'
}
