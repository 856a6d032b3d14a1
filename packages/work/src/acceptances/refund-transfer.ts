import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import type { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { claimTransfer, escrowAccount } from '@market/money/payments'
import { requestPayout } from '@market/money/payouts'
import { type Bounty, notifyPoster } from '@market/offers/bounties'
import { type Acceptance, purposeOf } from './acceptance.ts'
import { saveAcceptance } from './store.ts'

interface Late {
  /** Locked. */
  readonly bounty: Bounty
  readonly acceptance: Acceptance
  /** Made by a wallet that the poster has proven to own. */
  readonly transfer: IncomingTransfer
}

/** Refunds a whole transfer that came too late for its bounty, and tells the poster why. */
export async function refundTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { bounty, acceptance, transfer }: Late,
  { message }: ApiError,
): Promise<void> {
  const { network } = acceptance
  const purpose = purposeOf(acceptance)
  assert(transfer.payer !== null, `${transfer.reference} was paid by a wallet`)
  await claimTransfer(ctx, tx, { network, seen: transfer, purpose, due: transfer.amount })
  await requestPayout(ctx, tx, {
    network,
    kind: 'refund',
    subject: acceptance.id,
    payee: transfer.payer,
    amount: transfer.amount,
    from: escrowAccount(network, purpose),
    purpose,
  })
  await saveAcceptance(tx, acceptance, { status: 'refunded' }, ctx.clock.now())
  await notifyPoster(ctx, tx, bounty, {
    kind: 'bounty.transfer_refunded',
    title: `A transfer for “${bounty.title}” is refunded`,
    body: message,
  })
}
