import type { Tx } from '@market/database/transact'
import type { ClaimedTransfer, Purposes, ReversalHandlers } from '@market/money/payments'
import { orderPayment, undoPayment } from '@market/trade/orders'
import { purchasePayment, undoRegistration } from '@market/trade/x402'

/** What can be paid for, as the worker registers it. */
export const PURPOSES: Purposes = {
  order: { ...orderPayment, onReversed: undoPayment },
  purchase: purchasePayment,
  registration: { ...purchasePayment, onReversed: undoRegistration },
}

/** Runs the same function for a reversed payment of any kind. */
export const onAnyReversal = (
  run: (tx: Tx, transfer: ClaimedTransfer) => Promise<void> = async () => {},
): ReversalHandlers => ({
  order: { onReversed: (_, tx, transfer) => run(tx, transfer) },
  registration: { onReversed: (_, tx, transfer) => run(tx, transfer) },
})
