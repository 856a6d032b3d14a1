import { type Tx, transact } from '@market/database/transact'
import { payable, post, world } from '../ledger/index.ts'
import { addPaidOut } from './earnings/store.ts'
import { wakeForAccount } from './limits/store.ts'
import { lockCharged } from './outgoing/store.ts'
import { hasEnded, isWaiting, type Payout, type StoredSignature } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { findSignatures } from './signatures/store.ts'
import { lockPayout, savePayout } from './store.ts'

const LONGEST_REASON = 300

/**
 * Posts a payout whose transaction is final. If that was written off before the payout was known, the reserved money goes
 * to the account that it was charged to: the fees, or suspense.
 */
export async function finalizePayout(
  ctx: PayoutContext,
  payout: Payout,
  reference: string,
  cost?: bigint,
): Promise<void> {
  const { id, kind, subject, network, amount, agentId } = payout
  await transact(ctx.db, async (tx) => {
    // fix: refund-locks-counter
    await ctx.payoutKinds[payout.kind].beforeSent?.(tx, payout)
    const locked = await lockPayout(tx, id)
    if (hasEnded(locked)) return
    const to = (await lockCharged(tx, locked, reference)) ?? world(network)
    await post(ctx, tx, {
      key: `payout.sent:${id}`,
      reason: `${kind}.sent`,
      subject,
      network,
      moves: [{ from: payable(network, id), to, amount }],
    })
    await addPaidOut(tx, locked)
    if (locked.opensAccount && agentId !== null) await wakeForAccount(tx, agentId, ctx.clock.now())
    await ctx.payoutKinds[payout.kind].onSent?.(ctx, tx, payout, reference)
    // Last, because it locks counters that other payouts share.
    const change = { finalReference: reference, ...(cost !== undefined && { cost }) }
    await savePayout(tx, locked, 'finalize', change, ctx.clock.now())
  })
}

/**
 * The money stays reserved until the payout is retried. A retry pays again, so the failure counts only for the payout and
 * the signatures that were checked (none for one that was rejected before it was signed). A payout that has changed since then
 * is left as it is.
 */
export function failPayout(
  ctx: PayoutContext,
  payout: Payout,
  why: string,
  signed: readonly StoredSignature[] = [],
): Promise<Payout> {
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (hasEnded(locked) || !(await isUnchanged(tx, locked, payout, signed))) return locked
    const reason = why.slice(0, LONGEST_REASON)
    await ctx.payoutKinds[locked.kind].onFailed?.(ctx, tx, { ...locked, reason })
    // Last, because it locks counters that other payouts share.
    return savePayout(tx, locked, 'fail', { reason }, ctx.clock.now())
  })
}

/** Another worker may have signed it, signed it again or started another round meanwhile. */
async function isUnchanged(
  tx: Tx,
  locked: Payout,
  checked: Payout,
  signed: readonly StoredSignature[],
): Promise<boolean> {
  if (locked.round !== checked.round || isWaiting(locked) !== isWaiting(checked)) return false
  return (await findSignatures(tx, locked)).length === signed.length
}
