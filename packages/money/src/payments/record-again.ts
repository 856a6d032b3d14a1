import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { later } from '@market/kernel/clock'
import { postNew } from '../ledger/index.ts'
import { saveTransfer } from './store.ts'
import { arrivalJournal, reversalJournal, type Transfer, transferOf } from './transfer.ts'

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
