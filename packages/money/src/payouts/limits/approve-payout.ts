import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { isWaiting, type Payout, type PayoutId } from '../payout.ts'
import { findPayout, lockPayout } from '../store.ts'
import { CAP_CODES } from './caps.ts'
import { saveApproval } from './store.ts'

type Ctx = Needs<'clock'>

const notCapped = ({ id, state }: Pick<Payout, 'id' | 'state'>): ApiError =>
  new ApiError('conflict', `Payout ${id} is ${state} and no cap holds it. It needs no approval.`)

/** Rejects a payout that no cap holds. */
export function requireCapped(payout: Pick<Payout, 'id' | 'state' | 'holdCode'>): void {
  const { holdCode } = payout
  if (!isWaiting(payout) || holdCode === null || !CAP_CODES.includes(holdCode)) throw notCapped(payout)
}

/**
 * Lets a payout that a cap holds exceed the caps. The approval is for its amount, network and payee: a round with another
 * one needs another approval. The caller has checked that enough operators approved it, and records the audit entry.
 * Repeated with the same approval, it changes nothing.
 */
export async function approvePayout(ctx: Ctx, tx: Tx, id: PayoutId, approvalId: string): Promise<Payout> {
  if ((await findPayout(tx, id)) === undefined) throw new ApiError('not_found', `There is no payout ${id}.`)
  const payout = await lockPayout(tx, id)
  if (payout.approvalId === approvalId) return payout
  if (payout.approvalId !== null) throw notCapped(payout)
  requireCapped(payout)
  await saveApproval(tx, id, approvalId, ctx.clock.now())
  return lockPayout(tx, id)
}
