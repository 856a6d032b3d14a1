import { type Tx, transact } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import type { Needs } from '../context.ts'
import { giveUpHire } from '../orders/index.ts'
import { lockTransfer, releaseTransfer } from '../payments/index.ts'
import type { HireIn } from './hire.ts'
import { findHire, lockHire, saveContested } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids'>

/** Whether somebody hired by naming a payment that this wallet made. */
export const isAnothers = (hire: HireIn<'done'>, wallets: readonly string[]): boolean =>
  hire.kind === 'transaction' &&
  hire.binding === 'none' &&
  hire.subject.startsWith('service:') &&
  hire.payer !== null &&
  wallets.includes(hire.payer)

/**
 * Frees a payment that somebody else hired with, for whoever has proven that they made it: the other's order ends, and
 * the payment waits to be claimed. Nothing happens when there is no such hire, or it is too late.
 */
export async function contest(
  ctx: Ctx,
  { network, reference }: { readonly network: Network; readonly reference: string },
  wallets: readonly string[],
): Promise<void> {
  const hire = await findHire(ctx.db, { network, kind: 'transaction', proof: reference })
  if (hire?.state !== 'done' || !isAnothers(hire, wallets)) return
  await transact(ctx.db, (tx) => free(ctx, tx, hire))
}

/** False when the hire changed meanwhile, or can no longer be given up. */
export async function free(ctx: Ctx, tx: Tx, hire: HireIn<'done'>): Promise<boolean> {
  const locked = await lockHire(tx, hire.id)
  if (locked.state !== 'done' || locked.resultId !== hire.resultId) return false
  const transfer = await lockTransfer(tx, hire.network, hire.reference)
  if (transfer === undefined || transfer.purpose !== `order:${hire.resultId}`) return false
  if (!(await giveUpHire(ctx, tx, hire.resultId as OrderId, transfer, `wallet:${hire.payer}`))) return false
  if (!(await releaseTransfer(ctx, tx, transfer))) throw new Error(`${hire.reference} is not whole`)
  await saveContested(tx, hire.id, ctx.clock.now())
  return true
}
