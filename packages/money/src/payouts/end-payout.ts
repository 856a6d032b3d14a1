import { type Tx, transact } from '@market/database/transact'
import { fees, payable, post, world } from '../ledger/index.ts'
import { lockOutgoingTransfer } from './outgoing/store.ts'
import { hasEnded, isWaiting, type Payout, type StoredSignature } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { findSignatures } from './signatures/store.ts'
import { lockPayout, savePayout } from './store.ts'
import { tellFailed, tellSent } from './tell.ts'

const LONGEST_REASON = 300

/**
 * The money has left for good, and the ledger says so. When its leaving was booked as a loss while nobody knew what it
 * was, what was set aside for it makes the loss good.
 */
export async function settlePayout(ctx: PayoutContext, payout: Payout, reference: string): Promise<void> {
  const { id, kind, subject, network, amount } = payout
  await transact(ctx.db, async (tx) => {
    if (hasEnded(await lockPayout(tx, id))) return
    await savePayout(tx, id, { state: 'final', finalReference: reference }, ctx.clock.now())
    const isBooked = ((await lockOutgoingTransfer(tx, network, reference))?.bookedAt ?? null) !== null
    await post(ctx, tx, {
      key: `payout.sent:${id}`,
      reason: `${kind}.sent`,
      subject,
      network,
      moves: [{ from: payable(network, id), to: isBooked ? fees(network) : world(network), amount }],
    })
    await tellSent(ctx, tx, payout, reference)
  })
}

/**
 * The money stays set aside: what to do about it is a person's decision, or the payee's new address. Whoever tries it
 * again pays it again, so the verdict counts only for what it was about: the payout as it was seen, with the signatures
 * that were looked at (none for one that was rejected). If it has gone on since, it is left as it is.
 */
export function failPayout(
  ctx: PayoutContext,
  payout: Payout,
  why: string,
  signed: readonly StoredSignature[] = [],
): Promise<Payout> {
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (hasEnded(locked) || !(await isAsSeen(tx, locked, payout, signed))) return locked
    const reason = why.slice(0, LONGEST_REASON)
    const failed = await savePayout(tx, payout.id, { state: 'failed', reason }, ctx.clock.now())
    await tellFailed(ctx, tx, failed)
    return failed
  })
}

/** Another worker may have let it through, signed it anew or begun another round meanwhile. */
async function isAsSeen(
  tx: Tx,
  locked: Payout,
  seen: Payout,
  signed: readonly StoredSignature[],
): Promise<boolean> {
  if (locked.round !== seen.round || isWaiting(locked) !== isWaiting(seen)) return false
  return (await findSignatures(tx, locked)).length === signed.length
}
