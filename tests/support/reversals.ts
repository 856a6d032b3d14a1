import type { Tx } from '@market/database/transact'
import type { ClaimedTransfer, ReversalHandlers } from '@market/money/payments'

/** Runs the same function for a reversed payment of any kind. */
export const onAnyReversal = (
  run: (tx: Tx, transfer: ClaimedTransfer) => Promise<void> = async () => {},
): ReversalHandlers => ({
  order: { onReversed: (_, tx, transfer) => run(tx, transfer) },
  registration: { onReversed: (_, tx, transfer) => run(tx, transfer) },
  earn_deposit: { onReversed: (_, tx, transfer) => run(tx, transfer) },
  bounty: { onReversed: (_, tx, transfer) => run(tx, transfer) },
})
