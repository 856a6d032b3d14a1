import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import { type PayoutId, retryPayout as tryAgain } from '../payouts/index.ts'
import { requirePayee } from './payee.ts'
import { findPayout, type ListedPayout } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'actor' | 'vault' | 'requestId' | 'signatures' | 'chains'>

/** An operator lets a failed payout try again, to the same payee or to another one. */
export function retryPayout(
  ctx: Ctx,
  wanted: { payoutId: PayoutId; payee?: string | undefined; reason: string },
): Promise<ListedPayout> {
  const { payoutId: id, reason } = wanted
  return ctx.transact(async (tx) => {
    const before = await findPayout(tx, id)
    if (before === undefined) throw new ApiError('not_found', `There is no payout ${id}`)
    const change =
      wanted.payee === undefined ? {} : { payee: requirePayee(ctx, before.network, wanted.payee) }
    if (before.state === 'failed' && before.payee === null && wanted.payee === undefined) throw nobodyToPay()
    await tryAgain(ctx, tx, id, change)
    const payout = await findPayout(tx, id)
    assert(payout !== undefined, `${id} is tried again`)
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

const nobodyToPay = (): ApiError =>
  new ApiError('invalid', 'There is no address to pay this to: say payee', {
    details: [{ path: 'payee', message: 'must be given, for the payout has none' }],
  })
