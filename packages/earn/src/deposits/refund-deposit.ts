import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { formatUsd } from '@market/kernel/money'
import { escrowAccount, findTransferFor } from '@market/money/payments'
import { minPayoutOn, requestPayout } from '@market/money/payouts'
import { type Deposit, leftOf, purposeOf } from './deposit.ts'
import { notifyHolder } from './notify-holder.ts'
import { saveDeposit } from './store.ts'

/**
 * Pays what of a locked deposit is in escrow back to the wallet that made the transfer. Otherwise it is held. What is below the
 * minimum payout waits instead, until the pool takes it. What got shares keeps them.
 */
export async function refundDeposit(
  ctx: Needs<'clock' | 'ids' | 'chains'>,
  tx: Tx,
  deposit: Deposit,
  why: string,
): Promise<void> {
  const { id, network, shares, moved } = deposit
  const amount = leftOf(deposit)
  // fix: small-deposit-stays
  if (amount < minPayoutOn(ctx, network)) {
    const status = moved === 0n ? 'received' : 'deploying'
    await saveDeposit(tx, deposit, { status }, ctx.clock.now())
    return
  }
  const purpose = purposeOf(deposit)
  const payer = (await findTransferFor(tx, purpose))?.payer
  if (payer === undefined || payer === null) return holdDeposit(ctx, tx, deposit, why)
  await requestPayout(ctx, tx, {
    network,
    kind: 'refund',
    subject: id,
    payee: payer,
    amount,
    from: escrowAccount(network, purpose),
    purpose,
  })
  const status = shares === null ? 'refunded' : 'active'
  await saveDeposit(tx, deposit, { status, failure: why }, ctx.clock.now())
  await notifyHolder(ctx, tx, deposit, {
    kind: 'earn.deposit_refunded',
    title: `${formatUsd(amount)} USDC of your deposit is refunded`,
    body: `${why}. The money goes back to the wallet that sent it.`,
  })
}

/** The money stays in escrow until an operator resolves it. */
export async function holdDeposit(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  deposit: Deposit,
  why: string,
): Promise<void> {
  // Told once, however often it is tried again.
  if (deposit.status === 'held') return
  await saveDeposit(tx, deposit, { status: 'held', failure: why }, ctx.clock.now())
  await notifyHolder(ctx, tx, deposit, {
    kind: 'earn.deposit_held',
    title: `Your deposit of ${formatUsd(deposit.amount)} USDC is held`,
    body: `${why}. It could not be refunded yet. Nothing is lost: an operator resolves it.`,
  })
}
