import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import { transferName } from '../payments/index.ts'
import {
  findListedPayout,
  type ListedPayout,
  type OutgoingTransfer,
  refundTransfer as requestRefund,
  writeOffTransfer as writeOff,
} from '../payouts/index.ts'
import { parseTransferId, parseUnmatchedId } from './unmatched-id.ts'

type Ctx = Needs<'transact' | 'chains' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>

/** An operator refunds unmatched money to its payer. */
export function refundTransfer(
  ctx: Ctx,
  input: { readonly unmatchedId: string; readonly reason: string },
): Promise<ListedPayout> {
  const unmatched = parseUnmatchedId(input.unmatchedId)
  const { network, from } = unmatched
  return ctx.transact(async (tx) => {
    const { id } = await requestRefund(ctx, tx, unmatched)
    const payout = await findListedPayout(tx, id)
    assert(payout !== undefined, `${id} was requested`)
    await record(ctx, tx, {
      act: 'transfer.refunded',
      subject: transferName(unmatched),
      details: {
        reason: input.reason,
        network,
        from,
        payout: id,
        payee: payout.payee,
        amount_usd: formatUsd(payout.amount),
      },
    })
    return payout
  })
}

/** An operator writes off a payment that no payout explains as a loss of the platform. */
export function writeOffTransfer(
  ctx: Ctx,
  input: { readonly transferId: string; readonly reason: string },
): Promise<OutgoingTransfer> {
  const name = parseTransferId(input.transferId)
  const { network } = name
  return ctx.transact(async (tx) => {
    const transfer = await writeOff(ctx, tx, name)
    await record(ctx, tx, {
      act: 'transfer.written_off',
      subject: transferName(name),
      details: {
        reason: input.reason,
        network,
        payout: transfer.payoutId,
        amount_usd: formatUsd(transfer.amount),
      },
    })
    return transfer
  })
}
