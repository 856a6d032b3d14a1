import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { fees, post, surplus } from '@market/money/ledger'
import { type ClaimedTransfer, escrowAccount, formatPurpose } from '@market/money/payments'
import { findPayoutOf, withdrawPayout } from '@market/money/payouts'

/** The chain took the fee back: it leaves where it went. Who owns the agent stays its owner. */
export async function undoRegistration(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<'registration'>,
): Promise<void> {
  const { purpose, network, reference, due } = transfer
  const { id } = purpose
  const pot = escrowAccount(network, purpose)
  await withdrawPayout(ctx, tx, { kind: 'surplus', subject: id, to: surplus(network, reference) })
  if ((await findPayoutOf(tx, 'refund', id)) !== undefined)
    return withdrawPayout(ctx, tx, { kind: 'refund', subject: id, to: pot })
  await post(ctx, tx, {
    key: `registration.fee_undone:${formatPurpose(purpose)}:${reference}:${transfer.arrivedAt.getTime()}`,
    reason: 'registration.fee_undone',
    subject: id,
    network,
    moves: [{ from: fees(network), to: pot, amount: due }],
  })
}
