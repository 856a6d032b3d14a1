import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { lockPrincipal } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { EVER } from '@market/kernel/clock'
import { formatUsd } from '@market/kernel/money'
import { type ClaimedTransfer, escrowAccount, type IntentHandler, openIntent } from '@market/money/payments'
import { withdrawPayout } from '@market/money/payouts'
import { type Bounty, findBounty, findClaim, lockBounty, notifyPoster } from '@market/offers/bounties'
import { type Acceptance, dueOf, purposeOf, refusalOf } from './acceptance.ts'
import { notifyRefunded, settleAcceptance } from './settle-acceptance.ts'
import { findAcceptanceById, saveAcceptance } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

/** What becomes of an acceptance whose named transfer is confirmed, or never will be. */
export const acceptancePayment: IntentHandler = {
  async onConfirmed(ctx, tx, intent, transfer) {
    const { bounty, acceptance } = await lockAcceptance(tx, intent.purpose.id)
    if (acceptance.status !== 'waiting') return false
    const claim = await findClaim(tx, bounty.id, acceptance.claimId)
    assert(claim !== undefined, `${acceptance.claimId} exists`)
    const refusal = refusalOf(bounty, claim)
    const due = dueOf(bounty)
    if (refusal === undefined && transfer.amount < due)
      throw new ApiError(
        'invalid',
        `The transfer is ${formatUsd(transfer.amount)} USDC but ${formatUsd(due)} USDC is due.`,
        { code: 'underpaid' },
      )
    const settled = await settleAcceptance(ctx, tx, { bounty, claim, acceptance, transfer, refusal })
    if (settled instanceof ApiError) await notifyRefunded(ctx, tx, bounty, settled)
    return true
  },

  async onFailed(ctx, tx, intent, { message }) {
    const { bounty, acceptance } = await lockAcceptance(tx, intent.purpose.id)
    if (acceptance.status !== 'waiting') return
    await saveAcceptance(tx, acceptance, { status: 'failed' }, ctx.clock.now())
    await notifyPoster(ctx, tx, bounty, {
      kind: 'bounty.payment_failed',
      title: `The payment for “${bounty.title}” was not accepted`,
      body: message,
    })
  },
}

/** In this order everywhere: the poster's account, then the bounty. */
async function lockAcceptance(tx: Tx, id: string): Promise<{ bounty: Bounty; acceptance: Acceptance }> {
  const { bountyId } = await findAcceptanceById(tx, id)
  const { poster } = await findBounty(tx, bountyId)
  await lockPrincipal(tx, poster)
  const bounty = await lockBounty(tx, bountyId)
  return { bounty, acceptance: await findAcceptanceById(tx, id) }
}

/** A reorganization removed a transfer that was refunded. If it is included again, it is refunded again. */
export async function undoRefund(ctx: Ctx, tx: Tx, transfer: ClaimedTransfer<'bounty'>): Promise<void> {
  const { network, reference, payer, purpose, due } = transfer
  const { acceptance } = await lockAcceptance(tx, purpose.id)
  await withdrawPayout(ctx, tx, {
    kind: 'refund',
    subject: acceptance.id,
    to: escrowAccount(network, purpose),
  })
  await saveAcceptance(tx, acceptance, { status: 'waiting' }, ctx.clock.now())
  await openIntent(ctx, tx, {
    purpose: purposeOf(acceptance),
    network,
    reference,
    payers: payer === null ? null : [payer],
    due,
    notBefore: EVER,
    submission: null,
  })
}
