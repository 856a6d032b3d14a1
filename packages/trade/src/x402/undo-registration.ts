import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { escrow, fees, post, surplus } from '@market/money/ledger'
import type { Transfer } from '@market/money/payments'
import { findPayoutOf, withdrawPayout } from '@market/money/payouts'
import { REGISTRATION } from './quote.ts'

/** The chain took the fee back: it leaves where it went. Who owns the agent stays its owner. */
export async function undoRegistration(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: Transfer,
): Promise<void> {
  const { purpose, network, reference, due } = transfer
  if (!purpose.startsWith(`${REGISTRATION}:`)) return
  const id = purpose.slice(REGISTRATION.length + 1)
  const pot = escrow(network, purpose)
  await withdrawPayout(ctx, tx, { kind: 'surplus', subject: id, to: surplus(network, reference) })
  if ((await findPayoutOf(tx, 'refund', id)) !== undefined)
    return withdrawPayout(ctx, tx, { kind: 'refund', subject: id, to: pot })
  await post(ctx, tx, {
    key: `registration.fee_undone:${purpose}:${reference}:${transfer.arrivedAt.getTime()}`,
    reason: 'registration.fee_undone',
    subject: id,
    network,
    moves: [{ from: fees(network), to: pot, amount: due }],
  })
}
