import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { later } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { balanceOf, type Journal, post, suspense } from '../ledger/index.ts'
import { saveTransfer } from './store.ts'
import { arrivalJournal, reversalJournal, type Transfer, transferName, transferOf } from './transfer.ts'

/** The row of the transfer is locked, so a key that was posted before is a bug. */
export async function postNew(ctx: Needs<'clock' | 'ids'>, tx: Tx, journal: Journal): Promise<void> {
  const { isNew } = await post(ctx, tx, journal)
  assert(isNew, `${journal.key} was posted before`)
}

export const balanceInSuspense = async (tx: Tx, transfer: Transfer): Promise<Usdc> =>
  usdc(await balanceOf(tx, suspense(transfer.network, transferName(transfer))))

/** Records a reversed transfer as unclaimed: the chain has included its transaction again. */
export async function recordAgain(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, arrivedAt }: Transfer,
  seen: IncomingTransfer,
): Promise<void> {
  const now = ctx.clock.now()
  // The time is a part of the journals' keys, so it differs from that of the first arrival.
  const again = transferOf(network, seen, now > arrivedAt ? now : later(arrivedAt, 1))
  await saveTransfer(tx, again, now)
  await postNew(ctx, tx, arrivalJournal(again))
}

/** Nothing depends on an unclaimed transfer: after a reorganisation it is recorded with its new amount. */
export async function replaceUnclaimed(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  known: Transfer,
  seen: IncomingTransfer,
): Promise<void> {
  await postNew(ctx, tx, reversalJournal(known))
  await recordAgain(ctx, tx, known, seen)
}
