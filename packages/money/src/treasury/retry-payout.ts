import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import { findListedPayout, type ListedPayout, type PayoutId, retryPayout as retry } from '../payouts/index.ts'
import { requirePayee } from './payee.ts'

type Ctx = Needs<'transact' | 'clock' | 'actor' | 'vault' | 'requestId' | 'signatures' | 'chains'>

/** An operator retries a failed payout, to the same payee or to another one. */
export function retryPayout(
  ctx: Ctx,
  input: { payoutId: PayoutId; payee?: string | undefined; reason: string },
): Promise<ListedPayout> {
  const { payoutId: id, reason } = input
  return ctx.transact(async (tx) => {
    const before = await findListedPayout(tx, id)
    if (before === undefined) throw new ApiError('not_found', `There is no payout ${id}.`)
    const change = input.payee === undefined ? {} : { payee: requirePayee(ctx, before.network, input.payee) }
    if (before.state === 'failed' && before.payee === null && input.payee === undefined) throw payeeMissing()
    await retry(ctx, tx, id, change)
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
        payee_before: before.payee,
        round: payout.round,
      },
    })
    return payout
  })
}

const payeeMissing = (): ApiError =>
  new ApiError('invalid', 'This payout has no address to be paid to. Set payee.', {
    details: [{ path: 'payee', message: 'is required: the payout has no payee yet' }],
  })
