import type { ApprovalRule, Concern } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd } from '@market/kernel/money'
import {
  approvePayout as approve,
  findListedPayout,
  type ListedPayout,
  type PayoutId,
  requireCapped,
} from '../../payouts/index.ts'

/** A payout above a cap. */
export const approvePayout: ApprovalRule<
  Needs<'clock'>,
  PayoutId,
  Concern & { readonly payout: ListedPayout }
> = {
  async check(_ctx, tx, id) {
    const payout = await findListedPayout(tx, id)
    if (payout === undefined) throw new ApiError('not_found', `There is no payout ${id}.`)
    requireCapped(payout)
    const { amount, network, payee, reason } = payout
    return {
      subject: id,
      summary: `send ${formatUsd(amount)} USDC of payout ${id} to ${payee} on ${network}, which waits because: ${reason}`,
      recipients: [],
      payout,
    }
  },

  async execute(ctx, tx, id, approvalId) {
    const { network, payee, amount } = await approve(ctx, tx, id, approvalId)
    return { act: 'payout.approved', subject: id, details: { network, payee, amount_usd: formatUsd(amount) } }
  },
}
