import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ZERO } from '@market/kernel/money'
import { inSuspense, postNew } from './move-money.ts'
import { saveTransfer } from './store.ts'
import { arrival, type Transfer, undoing } from './transfer.ts'

/**
 * Takes a transfer away from what it pays for, as if nobody had claimed it: it waits in suspense for who does. Its row is
 * locked. False when its money is no longer in one place.
 */
export async function releaseTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  known: Transfer,
): Promise<boolean> {
  const isWhole = known.amount === known.due && (await inSuspense(tx, known)) === ZERO
  if (known.state === 'gone' || !isWhole) return false
  const now = ctx.clock.now()
  await postNew(ctx, tx, undoing(known, ZERO))
  const free: Transfer = { ...known, purpose: '', due: ZERO, arrivedAt: now }
  await saveTransfer(tx, free, now)
  await postNew(ctx, tx, arrival(free))
  return true
}
