import type { ApprovalRule } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd } from '@market/kernel/money'
import { transferName } from '../../payments/index.ts'
import { lockUnmatched, refundTransfer, requireMinimum, type Unmatched } from '../../payouts/index.ts'
import { requirePayee } from '../payee.ts'
import { unmatchedIdOf } from '../unmatched-id.ts'
import { walletRecipients } from './recipients.ts'

interface Refund {
  readonly unmatched: Unmatched
  readonly payee: string
}

/** Unmatched money to an address that is not, or not known to be, its payer's. */
export const refundUnmatched: ApprovalRule<Needs<'clock' | 'ids' | 'signatures' | 'chains'>, Refund> = {
  async check(ctx, tx, refund) {
    const { unmatched } = refund
    const { payer, amount } = await lockUnmatched(tx, unmatched)
    const id = unmatchedIdOf(unmatched)
    if (amount === 0n) throw new ApiError('conflict', `There is no money left in ${id}.`)
    requireMinimum(ctx, { network: unmatched.network, amount })
    const payee = requirePayee(ctx, unmatched.network, refund.payee)
    return {
      subject: id,
      summary: `refund ${formatUsd(amount)} USDC of transfer ${transferName(unmatched)} to ${payee} on ${unmatched.network}; its payer is ${payer ?? 'unknown'}`,
      recipients: walletRecipients(payer, payee),
    }
  },

  async execute(ctx, tx, refund) {
    const { network, from } = refund.unmatched
    const approvedPayee = requirePayee(ctx, network, refund.payee)
    const { id, amount, payee } = await refundTransfer(ctx, tx, { ...refund.unmatched, approvedPayee })
    return {
      act: 'transfer.refunded',
      subject: transferName(refund.unmatched),
      details: { network, from, payout: id, payee, amount_usd: formatUsd(amount) },
    }
  },
}
