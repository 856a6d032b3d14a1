import { transact } from '@market/database/transact'
import type { Rail, SignedTransfer } from '../ports/rail.ts'
import { hasEnded, orderOf, type Payout } from './payout.ts'
import type { PayoutContext } from './rails.ts'
import { findSignatures, insertSignature, lockPayout, saveDead, savePayout } from './store.ts'

/**
 * Signs, writes the bytes down, and only then sends them. Of two workers that sign at once one writes first; the
 * other's bytes are forgotten unsent. That the earlier ones are over and that these take their place is one decision:
 * a worker that dies on the way has decided nothing.
 */
export async function signOnce(
  ctx: PayoutContext,
  rail: Rail,
  payout: Payout,
  before: readonly SignedTransfer[],
): Promise<void> {
  const signed = await rail.sign(orderOf(payout), payout.nonce, before)
  const isOurs = await transact(ctx.db, async (tx) => {
    if (hasEnded(await lockPayout(tx, payout.id))) return false
    if ((await findSignatures(tx, payout.id)).length !== before.length) return false
    // A nonce is taken once whatever was signed for it; without one, the earlier bytes must be dead for good.
    if (payout.nonce === null) await saveDead(tx, payout.network, before)
    if (!(await insertSignature(tx, payout, before.length + 1, signed, ctx.clock.now()))) return false
    await savePayout(tx, payout.id, { state: 'signed' }, ctx.clock.now())
    return true
  })
  if (isOurs) await sendAnyway(rail, signed)
}

/** Whatever sending says, only a look at the chain tells what happened. */
export const sendAnyway = (rail: Rail, signed: SignedTransfer): Promise<void> =>
  rail.send(signed).catch(() => undefined)
