import { transact } from '@market/database/transact'
import { adopt } from './adopt.ts'
import { isCompared } from './outgoing/guard.ts'
import { findGate, findTransferMatches } from './outgoing/store.ts'
import type { Payout, StoredSignature } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { findSignatures } from './signatures/store.ts'
import { lockPayout, savePayout, startRound } from './store.ts'

export const NONCE_USED = 'Another payment of the treasury used its nonce'

/**
 * A final block shows that something else used the payout's nonce: nothing that was signed for it can take effect, and
 * it begins anew. That something could be a signature of its own that these books have lost, so first all that left
 * until now is read.
 */
export async function giveUpNonce(
  ctx: PayoutContext,
  payout: Payout,
  signed: readonly StoredSignature[],
): Promise<void> {
  const { id, network } = payout
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    if (locked.state !== 'signed' || locked.round !== payout.round) return
    if ((await findSignatures(tx, locked)).length !== signed.length) return
    if (locked.reason !== NONCE_USED) {
      await savePayout(tx, id, { state: 'signed', reason: NONCE_USED }, ctx.clock.now())
      return
    }
    const gate = await findGate(tx, network)
    if (!isCompared(gate) || gate.readAt <= locked.updatedAt) return
    if ((await adopt(ctx, tx, locked)) !== undefined) return
    // Its own in a block that lost its place, as long as that is not yet certain.
    if ((await findTransferMatches(tx, id)).some(({ namedIn }) => namedIn === locked.round)) return
    await startRound(tx, locked, ctx.clock.now())
  })
}
