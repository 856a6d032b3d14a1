import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import { findListedPayout, type ListedPayout, type PayoutId, retryPayout as retry } from '../payouts/index.ts'

type Ctx = Needs<'transact' | 'clock' | 'actor' | 'vault' | 'requestId'>

/** An operator retries a failed payout to the same payee. Another payee needs two operators. */
export function retryPayout(ctx: Ctx, input: { payoutId: PayoutId; reason: string }): Promise<ListedPayout> {
  const { payoutId: id, reason } = input
  return ctx.transact(async (tx) => {
    const before = await findListedPayout(tx, id)
    if (before === undefined) throw new ApiError('not_found', `There is no payout ${id}.`)
    if (before.state === 'failed' && before.payee === null) throw payeeMissing()
    await retry(ctx, tx, id)
    const payout = await findListedPayout(tx, id)
    assert(payout !== undefined, `${id} is retried`)
    await record(ctx, tx, {
      act: 'payout.retried',
      subject: id,
      details: {
        reason,
        network: payout.network,
        amount_usd: formatUsd(payout.amount),
        payee: payout.payee,
        round: payout.round,
      },
    })
    return payout
  })
}

const payeeMissing = (): ApiError =>
  new ApiError(
    'conflict',
    'This payout has no address to be paid to. Propose `redirect_payout` with POST /api/admin/approvals.',
    { code: 'approval_required' },
  )
