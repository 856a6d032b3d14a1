import type { PayoutSender, SignedTransfer } from '@market/core/ports/payout-sender'
import { transact } from '@market/database/transact'
import { isCompared } from './outgoing/guard.ts'
import { findGuard } from './outgoing/store.ts'
import { hasEnded, type Payout, senderRequestOf } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { recoverPayout } from './recover-payout.ts'
import { findSignatures, insertSignature, saveDead } from './signatures/store.ts'
import { lockPayout, savePayout } from './store.ts'

/**
 * Signs, stores the bytes, and only then broadcasts them. If two workers sign at once, one stores its bytes first and the
 * other's are never broadcast. Replacing the earlier signatures and storing the new one is one transaction. Nothing is
 * signed until it is known what was sent in earlier database epochs, or when the chain shows that it was already paid.
 */
export async function signPayout(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  before: readonly SignedTransfer[],
): Promise<void> {
  if (!isCompared(await findGuard(ctx.db, payout.network))) return
  const signed = await sender.sign(senderRequestOf(payout), payout.nonce, before)
  const isStored = await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (hasEnded(locked) || locked.round !== payout.round) return false
    if ((await findSignatures(tx, locked)).length !== before.length) return false
    if (!isCompared(await findGuard(tx, payout.network, 'shared'))) return false
    if ((await recoverPayout(ctx, tx, locked)) !== undefined) return false
    // A nonce can be used by one transaction only. Without nonces the earlier bytes must be expired for good.
    if (payout.nonce === null) await saveDead(tx, payout.network, before)
    if (!(await insertSignature(tx, payout, before.length + 1, signed, ctx.clock.now()))) return false
    await savePayout(tx, locked, 'sign', {}, ctx.clock.now())
    return true
  })
  if (isStored) await recordBroadcast(ctx, payout, await broadcast(sender, signed))
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
    if (locked.state !== 'signed' || locked.round !== round || locked.holdDetail === detail) return
    // releaseNonce compares the time of this hold with the time of the last reading.
    if (locked.holdCode === 'nonce_used') return
    const hold = detail === null ? undefined : ({ code: 'broadcast_error', detail } as const)
    await savePayout(tx, locked, 'record_broadcast', { hold }, ctx.clock.now())
  })
}

/** Postgres rejects text with a NUL character, and nodes may send one. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').slice(0, LONGEST_ERROR)
