import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { normalizeReference } from '../payments/index.ts'
import { writeOffTransfer as bookLoss } from '../payouts/index.ts'
import { findOutgoingTransfer, type ListedOutgoingTransfer } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>

/** An operator books a payment that nobody can explain as a loss of the platform. Once; asked again nothing moves. */
export function writeOffTransfer(
  ctx: Ctx,
  wanted: { network: Network; reference: string; reason: string },
): Promise<ListedOutgoingTransfer> {
  const { network, reason } = wanted
  const reference = normalizeReference(network, wanted.reference)
  return ctx.transact(async (tx) => {
    await bookLoss(ctx, tx, { network, reference })
    const sending = await findOutgoingTransfer(tx, network, reference)
    assert(sending !== undefined, `${reference} was booked`)
    await record(ctx, tx, {
      act: 'sending.booked',
      subject: reference,
      details: { reason, network, payout: sending.payoutId, amount_usd: formatUsd(sending.amount) },
    })
    return sending
  })
}
