import type { PayoutSender, SignedPayout } from '@market/core/ports/payout-sender'
import { payoutSwitches, rejectWhileStopped } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { requireTreasury } from './batches/store.ts'
import { broadcast } from './batches/submit-payouts.ts'
import { freezeHold } from './find-hold.ts'
import { fundingHold } from './funding-hold.ts'
import { findGuard } from './guards/store.ts'
import { type Hold, isSuspended } from './hold.ts'
import { isCompared } from './outgoing/guard.ts'
import { type Payout, senderRequestOf } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { recordBroadcast } from './record-broadcast.ts'
import { recoverPayout } from './recover-payout.ts'
import { findSignatures, insertSignature, saveDead } from './signatures/store.ts'
import { lockPayout, savePayout } from './store.ts'

/**
 * Signs a signed payout again, when nothing of it was executed: Solana, when nothing can be any more; EVM also before, because
 * the chain executes one of them. Stores the bytes, and only then sends them. If two workers sign at once, one stores its bytes
 * first and the other's are never sent. Nothing is signed until it is known what was sent in earlier database epochs, when the
 * chain shows that it was already paid, or when the ledger does not hold its amount. Returns the hold when payouts are frozen.
 */
export async function signAgain(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  before: readonly SignedPayout[],
): Promise<Hold | undefined> {
  const { network } = payout
  if (!isCompared(await findGuard(ctx.db, network))) return undefined
  const isFree = (tx: Tx) => rejectWhileStopped(tx, payoutSwitches(network))
  const frozen = await transact(ctx.db, isFree).then(
    () => undefined,
    (error: unknown) => recordFrozen(ctx, payout, error),
  )
  if (frozen !== undefined) return frozen
  if (await transact(ctx.db, (tx) => suspendUnjustified(ctx, tx, payout))) return undefined
  const signed = await sender.sign(senderRequestOf(payout), before.length)
  const isStored = await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (locked.state !== 'signed' || locked.round !== payout.round) return false
    if ((await findSignatures(tx, locked)).length !== before.length) return false
    if (!isCompared(await findGuard(tx, network, 'shared'))) return false
    if ((await recoverPayout(ctx, tx, locked)) !== undefined) return false
    if (await suspendUnjustified(ctx, tx, locked)) return false
    // fix: freeze-stops-signing
    await isFree(tx)
    // fix: one-treasury-signs
    await requireTreasury(tx, network, sender.treasury)
    await saveDead(tx, locked)
    if (!(await insertSignature(tx, payout, before.length + 1, signed, ctx.clock.now()))) return false
    await savePayout(tx, locked, 'sign', {}, ctx.clock.now())
    return true
  }).catch((error: unknown) => recordFrozen(ctx, payout, error))
  if (isStored === true) await recordBroadcast(ctx, payout, await broadcast(sender, signed))
  return typeof isStored === 'boolean' ? undefined : isStored
}

/** Shows operators why a signed payout is not signed again. Throws errors of another cause. */
async function recordFrozen(ctx: PayoutContext, { id, network }: Payout, error: unknown): Promise<Hold> {
  const frozen = error instanceof ApiError ? freezeHold(network, error.extra.code) : undefined
  if (frozen === undefined) throw error
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    if (locked.state !== 'signed' || locked.holdCode === frozen.code || isSuspended(locked.holdCode)) return
    await savePayout(tx, locked, 'record_broadcast', { hold: frozen }, ctx.clock.now())
  })
  return frozen
}

/** Holds a payout that the ledger does not fund or its order does not require. Returns true when it may not be signed. */
async function suspendUnjustified(ctx: PayoutContext, tx: Tx, { id, round }: Payout): Promise<boolean> {
  const locked = await lockPayout(tx, id)
  if (locked.state !== 'signed' || locked.round !== round) return true
  const hold = await fundingHold(ctx, tx, locked)
  if (hold === undefined) return false
  await savePayout(tx, locked, 'suspend', { hold }, ctx.clock.now())
  return true
}
