import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { revokeAccess } from '@market/identity/agents'
import type { AgentId, OrderId } from '@market/kernel/ids'
import { type ClaimedTransfer, lockTransferFor, unclaimTransfer } from '@market/money/payments'
import { isStoppable, rejectWhileAlive } from '@market/money/payouts'
import {
  type Buyer,
  confirmPayer,
  contestOrder,
  lockNamedOrder,
  type NamedStatus,
  releasePayment,
} from '../../orders/index.ts'
import { refundRegistration, undoRegistration } from '../paid-registration.ts'
import type { PurchaseIn } from '../purchase.ts'
import { REGISTRATION } from '../quote.ts'
import { saveConfirmed, saveRefunded, saveRegistrationContest } from './store.ts'

type Ctx = Needs<'clock' | 'ids' | 'vault'>
type Done = PurchaseIn<'done'>

export const isRefund = ({ resultId }: Pick<Done, 'resultId'>): boolean => resultId.startsWith('refund:')

/** What the transfer of a purchase pays for. */
export const paidFor = ({ id, subject, resultId }: Pick<Done, 'id' | 'subject' | 'resultId'>) =>
  subject === REGISTRATION
    ? ({ kind: 'registration', id } as const)
    : ({ kind: 'order', id: resultId as OrderId } as const)

/** The status of a locked purchase. What it bought is locked too. */
export function lockBought(tx: Tx, purchase: Done, contestedAt: Date | null): Promise<NamedStatus> {
  if (purchase.subject !== REGISTRATION) return lockNamedOrder(tx, purchase.resultId as OrderId)
  if (purchase.binding !== 'none') return Promise.resolve('bound')
  if (isRefund(purchase)) return Promise.resolve('ended')
  return Promise.resolve(contestedAt === null ? 'unbound' : 'contested')
}

export const contestPurchase = (ctx: Ctx, tx: Tx, purchase: Done): Promise<void> =>
  purchase.subject === REGISTRATION
    ? saveRegistrationContest(tx, purchase.id, ctx.clock.now())
    : contestOrder(ctx, tx, purchase.resultId as OrderId)

/** The payer signed for it: the payout waits no longer. */
export async function confirmPurchase(ctx: Ctx, tx: Tx, purchase: Done): Promise<void> {
  if (purchase.subject !== REGISTRATION)
    await confirmPayer(ctx, tx, purchase.resultId as OrderId, `wallet:${purchase.payer}`)
  await saveConfirmed(tx, purchase.id, ctx.clock.now())
}

/** Ends a locked purchase whose payer signed for something else, so that the transfer can be used again or is refunded. */
export async function endPurchase(
  ctx: Ctx,
  tx: Tx,
  purchase: Done,
  nextBuyers: readonly Buyer[],
): Promise<'released' | 'refunded'> {
  const { reference, payer } = purchase
  const purpose = paidFor(purchase)
  const transfer = await lockTransferFor(tx, purpose)
  if (transfer?.purpose?.kind !== purpose.kind || transfer.purpose.id !== purpose.id)
    throw new Error(`${reference} does not pay for ${purpose.id}`)
  const outcome =
    purpose.kind === 'order'
      ? await releasePayment(ctx, tx, { ...transfer, purpose }, `wallet:${payer}`, nextBuyers)
      : await endRegistration(ctx, tx, purchase, { ...transfer, purpose })
  if (outcome === 'released' && !(await unclaimTransfer(ctx, tx, transfer)))
    throw new Error(`${reference} was already used in part`)
  return outcome
}

/** The agent belongs to the wallet that paid; the caller who registered it with that payment loses it. */
async function endRegistration(
  ctx: Ctx,
  tx: Tx,
  purchase: Done,
  transfer: ClaimedTransfer<'registration'>,
): Promise<'released' | 'refunded'> {
  // fix: registration-waits
  await rejectWhileAlive(tx, transfer)
  await revokeAccess(ctx, tx, purchase.resultId as AgentId)
  if (await isStoppable(tx, 'surplus', purchase.id)) {
    await undoRegistration(ctx, tx, transfer)
    return 'released'
  }
  await refundRegistration(ctx, tx, transfer)
  await saveRefunded(tx, purchase.id, ctx.clock.now())
  return 'refunded'
}
