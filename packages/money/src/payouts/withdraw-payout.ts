import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Account, payable, post } from '../ledger/index.ts'
import { hasEnded, isWaiting, type PayoutKind, payoutIdOf } from './payout.ts'
import { findPayout, lockPayout, savePayout } from './store.ts'

const WHY = 'The payment it was to be paid from was undone'

/**
 * Takes back a decision whose reason was undone by the chain. Payouts wait until their payment is final, so nothing of
 * this one was let through; the money goes back to where it was set aside from.
 */
export async function withdrawPayout(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { kind, subject, to }: { kind: PayoutKind; subject: string; to: Account },
): Promise<void> {
  const id = payoutIdOf(kind, subject)
  if ((await findPayout(tx, id)) === undefined) return
  const payout = await lockPayout(tx, id)
  if (payout.state === 'withdrawn') return
  assert(
    isWaiting(payout) || (hasEnded(payout) && payout.state !== 'final'),
    `${id} has not been let through`,
  )
  const { network, amount, round } = payout
  await savePayout(tx, id, { state: 'withdrawn', reason: WHY }, ctx.clock.now())
  await post(ctx, tx, {
    key: `payout.withdrawn:${id}:${round}`,
    reason: `${kind}.withdrawn`,
    subject,
    network,
    moves: [{ from: payable(network, id), to, amount }],
  })
}
