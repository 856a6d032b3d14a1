import type { PayoutSender, SignedTransfer } from '@market/core/ports/payout-sender'
import { payoutSwitches, rejectWhileStopped } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { freezeHold } from './find-hold.ts'
import { fundingHold } from './funding-hold.ts'
import { findGuard } from './guards/store.ts'
import { type Hold, isUnjustified } from './hold.ts'
import { isCompared } from './outgoing/guard.ts'
import { hasEnded, isWaiting, type Payout, senderRequestOf } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { recoverPayout } from './recover-payout.ts'
import { findSignatures, insertSignature, saveDead } from './signatures/store.ts'
import { lockPayout, savePayout } from './store.ts'

/**
 * Signs, stores the bytes, and only then broadcasts them. If two workers sign at once, one stores its bytes first and the
 * other's are never broadcast. Replacing the earlier signatures and storing the new one is one transaction. Nothing is
 * signed until it is known what was sent in earlier database epochs, when the chain shows that it was already paid, or
 * when the ledger does not hold its amount. Returns the hold when payouts are frozen.
 */
export async function signPayout(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  before: readonly SignedTransfer[],
): Promise<Hold | undefined> {
  if (!isCompared(await findGuard(ctx.db, payout.network))) return undefined
  const frozen = await transact(ctx.db, (tx) => rejectFrozen(tx, payout)).catch((error: unknown) =>
    recordFrozen(ctx, payout, error),
  )
  if (frozen !== undefined) return frozen
  if (await transact(ctx.db, (tx) => suspendUnjustified(ctx, tx, payout))) return undefined
  const signed = await sender.sign(senderRequestOf(payout), payout.nonce, before)
  const isStored = await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (hasEnded(locked) || locked.round !== payout.round) return false
    if ((await findSignatures(tx, locked)).length !== before.length) return false
    if (!isCompared(await findGuard(tx, payout.network, 'shared'))) return false
    if ((await recoverPayout(ctx, tx, locked)) !== undefined) return false
    if (await suspendUnjustified(ctx, tx, locked)) return false
    await rejectFrozen(tx, locked)
    // A nonce can be used by one transaction only. Without nonces the earlier bytes must be expired for good.
    if (payout.nonce === null) await saveDead(tx, payout.network, before)
    if (!(await insertSignature(tx, payout, before.length + 1, signed, ctx.clock.now()))) return false
    await savePayout(tx, locked, 'sign', {}, ctx.clock.now())
    return true
  }).catch((error: unknown) => recordFrozen(ctx, payout, error))
  if (isStored === true) await recordBroadcast(ctx, payout, await broadcast(sender, signed))
  return typeof isStored === 'boolean' ? undefined : isStored
}

/** An assigned nonce must be used, or it blocks all later payouts. Without nonces a freeze also stops what is signed again. */
async function rejectFrozen(tx: Tx, { network, nonce }: Payout): Promise<undefined> {
  // fix: freeze-stops-signing
  if (nonce === null) await rejectWhileStopped(tx, payoutSwitches(network))
}

/** Shows operators why a signed payout is not signed again. Throws errors of another cause. */
async function recordFrozen(ctx: PayoutContext, { id, network }: Payout, error: unknown): Promise<Hold> {
  const frozen = error instanceof ApiError ? freezeHold(network, error.extra.code) : undefined
  if (frozen === undefined) throw error
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    if (locked.state !== 'signed' || locked.holdCode === frozen.code) return
    await savePayout(tx, locked, 'record_broadcast', { hold: frozen }, ctx.clock.now())
  })
  return frozen
}

/** Holds a payout that the ledger does not fund or its order does not require. Returns true when it may not be signed. */
async function suspendUnjustified(ctx: PayoutContext, tx: Tx, { id, round }: Payout): Promise<boolean> {
  const locked = await lockPayout(tx, id)
  if (hasEnded(locked) || isWaiting(locked) || locked.round !== round) return true
  const hold = await fundingHold(ctx, tx, locked)
  if (hold === undefined) return false
  const action = locked.state === 'signed' ? 'suspend' : 'hold'
  await savePayout(tx, locked, action, { hold }, ctx.clock.now())
  return true
}

/**
 * Returns the error of the nodes, or undefined. Only the chain tells whether the transaction took effect, so the error is
 * for operators. A recovered signature has no bytes to broadcast.
 */
export const broadcast = async (sender: PayoutSender, signed: SignedTransfer): Promise<string | undefined> =>
  signed.bytes === '' ? undefined : sender.send(signed).then(() => undefined, messageOf)

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

const LONGEST_ERROR = 200

/** Records the error of the last broadcast of a signed payout for operators, or clears it. */
export async function recordBroadcast(
  ctx: PayoutContext,
  { id, round, holdCode }: Payout,
  error: string | undefined,
): Promise<void> {
  if (error === undefined && holdCode === null) return
  const detail = error === undefined ? null : oneLine(error)
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    const isRecorded = locked.holdDetail === detail && (detail !== null || locked.holdCode === null)
    if (locked.state !== 'signed' || locked.round !== round || isRecorded) return
    // releaseNonce compares the readings since this hold; operators must see the others.
    if (locked.holdCode === 'nonce_used' || isUnjustified(locked.holdCode)) return
    const hold = detail === null ? undefined : ({ code: 'broadcast_error', detail } as const)
    await savePayout(tx, locked, 'record_broadcast', { hold }, ctx.clock.now())
  })
}

/** Postgres rejects text with a NUL character, and nodes may send one. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').slice(0, LONGEST_ERROR)
