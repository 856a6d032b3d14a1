import type { Needs } from '@market/core/context'
import { type Tx, transact } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { lockTransfer, unclaimTransfer } from '@market/money/payments'
import { giveUpHire } from '../orders/index.ts'
import { contested } from './errors.ts'
import type { PurchaseIn } from './purchase.ts'
import { findPurchase, lockPurchase, saveContested } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids'>

interface Named {
  readonly network: Network
  readonly reference: string
  readonly orderId: OrderId
}

/** Whether somebody hired by naming a payment that this wallet made. */
export const isContestable = (purchase: PurchaseIn<'done'>, wallets: readonly string[]): boolean =>
  purchase.kind === 'transaction' &&
  purchase.binding === 'none' &&
  purchase.subject.startsWith('service:') &&
  purchase.payer !== null &&
  wallets.includes(purchase.payer)

/**
 * Frees a payment that somebody else hired with, for whoever has proven that they made it: the other's order ends, and
 * the payment waits to be claimed; once the work is delivered an operator decides. Nothing happens when there is no such
 * purchase, when it is the very order that is to be paid, or it is too late.
 */
export async function contest(
  ctx: Ctx,
  { network, reference, orderId }: Named,
  wallets: readonly string[],
): Promise<void> {
  const purchase = await findPurchase(ctx.db, { network, kind: 'transaction', proof: reference })
  if (purchase?.state !== 'done' || purchase.resultId === orderId || !isContestable(purchase, wallets)) return
  if ((await transact(ctx.db, (tx) => free(ctx, tx, purchase))) === 'disputed') throw contested()
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
  const given = await giveUpHire(ctx, tx, { ...transfer, purpose }, `wallet:${purchase.payer}`)
  if (given !== 'ended') return given
  if (!(await unclaimTransfer(ctx, tx, transfer))) throw new Error(`${purchase.reference} is not whole`)
  await saveContested(tx, purchase.id, ctx.clock.now())
  return 'freed'
}
