import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { lockPrincipal } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { EVER } from '@market/kernel/clock'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { type ClaimedTransfer, escrowAccount, type IntentHandler, openIntent } from '@market/money/payments'
import { withdrawPayout } from '@market/money/payouts'
import {
  type Bounty,
  findBounty,
  findClaim,
  lockBounty,
  notifyPoster,
  ownBounty,
} from '@market/offers/bounties'
import {
  type Acceptance,
  bountyProblem,
  claimProblem,
  dueOf,
  isProvenPayer,
  purposeOf,
} from './acceptance.ts'
import { createBountyOrder } from './create-bounty-order.ts'
import { isOwn } from './own-bounty.ts'
import { refundTransfer } from './refund-transfer.ts'
import { findAcceptanceById, saveAcceptance } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

/** What becomes of an acceptance whose named transfer is confirmed, or never will be. */
export const acceptancePayment: IntentHandler = {
  async onConfirmed(ctx, tx, intent, transfer) {
    const { bounty, acceptance } = await lockAcceptance(tx, intent.purpose.id)
    if (acceptance.status !== 'waiting') return false
    const claim = await findClaim(tx, bounty.id, acceptance.claimId)
    assert(claim !== undefined, `${acceptance.claimId} exists`)
    const due = dueOf(bounty)
    if (transfer.amount < due) throw underpaid(due, transfer.amount)
    const isRefunded = isProvenPayer(acceptance, transfer)
    const ended = bountyProblem(bounty, isRefunded ? 'always' : 'never')
    if (ended !== undefined && isRefunded) {
      await refundTransfer(ctx, tx, { bounty, acceptance, transfer }, ended)
      return true
    }
    // Thrown problems leave the transfer unused, and the poster is told.
    const problem = ended ?? claimProblem(bounty, claim, acceptance.createdAt)
    if (problem !== undefined) throw problem
    if (await isOwn(tx, bounty, claim, transfer.payer)) throw ownBounty()
    await createBountyOrder(ctx, tx, { bounty, claim, acceptance, transfer })
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

const underpaid = (due: Usdc, paid: Usdc): ApiError =>
  new ApiError('invalid', `The transfer is ${formatUsd(paid)} USDC but ${formatUsd(due)} USDC is due.`, {
    code: 'underpaid',
  })

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
