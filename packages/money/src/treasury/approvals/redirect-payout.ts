import type { ApprovalRule, Concern } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd } from '@market/kernel/money'
import { findListedPayout, type ListedPayout, type PayoutId, retryPayout } from '../../payouts/index.ts'
import { requirePayee } from '../payee.ts'
import { walletRecipients } from './recipients.ts'

type Ctx = Needs<'clock' | 'signatures' | 'chains'>

interface Redirection {
  readonly payoutId: PayoutId
  readonly payee: string
}

/** A failed payout to another payee. */
export const redirectPayout: ApprovalRule<Ctx, Redirection, Concern & { readonly payout: ListedPayout }> = {
  async check(ctx, tx, { payoutId, payee }) {
    const payout = await requireListed(tx, payoutId)
    if (payout.state !== 'failed')
      throw new ApiError(
        'conflict',
        `Payout ${payoutId} is ${payout.state}. Only a failed payout can be retried.`,
      )
    if (payout.kind === 'move_to_cold')
      throw new ApiError('conflict', 'A move to the cold address goes nowhere else. Retry it instead.')
    const key = requirePayee(ctx, payout.network, payee)
    const to = `${formatUsd(payout.amount)} USDC of payout ${payoutId} to ${key} on ${payout.network}`
    return {
      subject: payoutId,
      summary: `pay ${to} instead of ${payout.payee ?? 'an unknown address'}`,
      recipients: walletRecipients(payout.payee),
      payout,
    }
  },

  async execute(ctx, tx, { payoutId, payee }) {
    const before = await requireListed(tx, payoutId)
    const after = await retryPayout(ctx, tx, payoutId, { payee: requirePayee(ctx, before.network, payee) })
    return {
      act: 'payout.redirected',
      subject: payoutId,
      details: {
        network: after.network,
        amount_usd: formatUsd(after.amount),
        payee: after.payee,
        payee_before: before.payee,
        round: after.round,
      },
    }
  },
}

async function requireListed(tx: Tx, id: PayoutId): Promise<ListedPayout> {
  const payout = await findListedPayout(tx, id)
  if (payout === undefined) throw new ApiError('not_found', `There is no payout ${id}.`)
  return payout
}
