import type { PayoutSender, SignedTransfer } from '@market/core/ports/payout-sender'
import { transact } from '@market/database/transact'
import { adopt } from './adopt.ts'
import { noteUnsent } from './note-unsent.ts'
import { isCompared } from './outgoing/guard.ts'
import { findGate } from './outgoing/store.ts'
import { hasEnded, orderOf, type Payout } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { findSignatures, insertSignature, saveDead } from './signatures/store.ts'
import { lockPayout, savePayout } from './store.ts'

/**
 * Signs, writes the bytes down, and only then sends them. Of two workers that sign at once one writes first; the
 * other's bytes are forgotten unsent. That the earlier ones are over and that these take their place is one decision:
 * a worker that dies on the way has decided nothing. As long as it is not known what left before this life of the
 * database, and where the chain shows that it was paid, nothing is signed.
 */
export async function signOnce(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  before: readonly SignedTransfer[],
): Promise<void> {
  if (!isCompared(await findGate(ctx.db, payout.network))) return
  const signed = await sender.sign(orderOf(payout), payout.nonce, before)
  const isOurs = await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (hasEnded(locked) || locked.round !== payout.round) return false
    if ((await findSignatures(tx, locked)).length !== before.length) return false
    if (!isCompared(await findGate(tx, payout.network, 'shared'))) return false
    if ((await adopt(ctx, tx, locked)) !== undefined) return false
    // A nonce is taken once whatever was signed for it; without one, the earlier bytes must be dead for good.
    if (payout.nonce === null) await saveDead(tx, payout.network, before)
    if (!(await insertSignature(tx, payout, before.length + 1, signed, ctx.clock.now()))) return false
    await savePayout(tx, payout.id, { state: 'signed' }, ctx.clock.now())
    return true
  })
  if (isOurs) await noteUnsent(ctx, payout, await sendAnyway(sender, signed))
}

/**
 * Whatever sending says, only a look at the chain tells what happened; what the nodes said against it is for people.
 * What was taken over has no bytes to send.
 */
export const sendAnyway = async (
  sender: PayoutSender,
  signed: SignedTransfer,
): Promise<string | undefined> =>
  signed.bytes === '' ? undefined : sender.send(signed).then(() => undefined, messageOf)

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))
