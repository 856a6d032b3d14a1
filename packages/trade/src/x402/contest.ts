import type { Needs } from '@market/core/context'
import { type Tx, transact } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { lockTransfer, releaseTransfer } from '@market/money/payments'
import { giveUpHire } from '../orders/index.ts'
import type { HireIn } from './hire.ts'
import { contested } from './refusals.ts'
import { findHire, lockHire, saveContested } from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids'>

interface Named {
  readonly network: Network
  readonly reference: string
  readonly orderId: OrderId
}

/** Whether somebody hired by naming a payment that this wallet made. */
export const isAnothers = (hire: HireIn<'done'>, wallets: readonly string[]): boolean =>
  hire.kind === 'transaction' &&
  hire.binding === 'none' &&
  hire.subject.startsWith('service:') &&
  hire.payer !== null &&
  wallets.includes(hire.payer)

/**
 * Frees a payment that somebody else hired with, for whoever has proven that they made it: the other's order ends, and
 * the payment waits to be claimed; once the work is delivered an operator decides. Nothing happens when there is no such
 * hire, when it is the very order that is to be paid, or it is too late.
 */
export async function contest(
  ctx: Ctx,
  { network, reference, orderId }: Named,
  wallets: readonly string[],
): Promise<void> {
  const hire = await findHire(ctx.db, { network, kind: 'transaction', proof: reference })
  if (hire?.state !== 'done' || hire.resultId === orderId || !isAnothers(hire, wallets)) return
  if ((await transact(ctx.db, (tx) => free(ctx, tx, hire))) === 'disputed') throw contested()
}

/** False when the hire changed meanwhile, or can no longer be given up; disputed when that is for an operator to say. */
export async function free(ctx: Ctx, tx: Tx, hire: HireIn<'done'>): Promise<'freed' | 'disputed' | false> {
  const locked = await lockHire(tx, hire.id)
  if (locked.state !== 'done' || locked.resultId !== hire.resultId) return false
  const transfer = await lockTransfer(tx, hire.network, hire.reference)
  if (transfer === undefined || transfer.purpose !== `order:${hire.resultId}`) return false
  const given = await giveUpHire(ctx, tx, hire.resultId as OrderId, transfer, `wallet:${hire.payer}`)
  if (given !== 'ended') return given
  if (!(await releaseTransfer(ctx, tx, transfer))) throw new Error(`${hire.reference} is not whole`)
  await saveContested(tx, hire.id, ctx.clock.now())
  return 'freed'
}
