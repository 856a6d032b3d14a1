import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import { surplus } from '@market/money/ledger'
import { type ClaimedTransfer, type IntentHandler, transferName } from '@market/money/payments'
import { withdrawPayout } from '@market/money/payouts'
import { notifyHolder } from './notify-holder.ts'
import { awaitTransfer, receive } from './register-deposit.ts'
import { lockDeposit, saveDeposit } from './store.ts'

/** What becomes of a deposit whose named transfer is confirmed, or never will be. */
export const depositPayment: IntentHandler = {
  async onConfirmed(ctx, tx, intent, transfer) {
    const deposit = await lockDeposit(tx, intent.purpose.id)
    if (deposit.status !== 'waiting') return false
    if (transfer.amount < deposit.amount)
      throw new ApiError(
        'invalid',
        `The transfer is ${formatUsd(transfer.amount)} USDC, but ${formatUsd(deposit.amount)} USDC was registered. Register it with its own amount.`,
        { code: 'underpaid' },
      )
    await receive(ctx, tx, deposit, transfer)
    await saveDeposit(tx, deposit, { status: 'received' }, ctx.clock.now())
    return true
  },

  async onFailed(ctx, tx, intent, { message }) {
    const deposit = await lockDeposit(tx, intent.purpose.id)
    if (deposit.status !== 'waiting') return
    await saveDeposit(tx, deposit, { status: 'failed', failure: message }, ctx.clock.now())
    await notifyHolder(ctx, tx, deposit, {
      kind: 'earn.deposit_failed',
      title: `Your deposit of ${formatUsd(deposit.amount)} USDC was not accepted`,
      body: message,
    })
  },
}

/**
 * A reorganization removed the transfer. Money is moved to a venue only when its transfer is final, so no share exists yet.
 * The deposit waits again: the transaction is usually included in another block.
 */
export async function undoDeposit(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<'earn_deposit'>,
): Promise<void> {
  const { network, payer, purpose } = transfer
  const deposit = await lockDeposit(tx, purpose.id)
  assert(deposit.status === 'received', `${deposit.id} is ${deposit.status}, but its transfer was not final`)
  await withdrawPayout(ctx, tx, {
    kind: 'surplus',
    subject: deposit.id,
    to: surplus(network, transferName(transfer)),
  })
  await saveDeposit(tx, deposit, { status: 'waiting' }, ctx.clock.now())
  await awaitTransfer(ctx, tx, deposit, payer === null ? null : [payer])
}
