import type { ApprovalRule } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd } from '@market/kernel/money'
import { transferName } from '../../payments/index.ts'
import { lockOwnDeposit, recognizeRevenue as recognize, type Unmatched } from '../../payouts/index.ts'
import type { TreasurySettings } from '../settings.ts'
import { unmatchedIdOf } from '../unmatched-id.ts'
import { walletRecipients } from './recipients.ts'

type Ctx = Needs<'clock' | 'ids'> & { readonly treasury: TreasurySettings }

/** A deposit of the platform itself that becomes revenue. */
export const recognizeRevenue: ApprovalRule<Ctx, Unmatched> = {
  async check(ctx, tx, unmatched) {
    const deposit = ownDeposit(ctx, unmatched)
    const { amount, payer } = await lockOwnDeposit(tx, deposit)
    const { network } = deposit
    return {
      subject: unmatchedIdOf(deposit),
      summary: `recognize ${formatUsd(amount)} USDC of transfer ${transferName(deposit)} on ${network} as revenue`,
      recipients: walletRecipients(payer),
    }
  },

  async execute(ctx, tx, unmatched) {
    const deposit = ownDeposit(ctx, unmatched)
    const amount = await recognize(ctx, tx, deposit)
    return {
      act: 'transfer.recognized',
      subject: transferName(deposit),
      details: { network: deposit.network, amount_usd: formatUsd(amount) },
    }
  },
}

function ownDeposit({ treasury }: Ctx, unmatched: Unmatched) {
  if (unmatched.from === 'surplus')
    throw new ApiError('conflict', 'A surplus belongs to the payer of a purchase. Refund it instead.')
  return { ...unmatched, ownWallets: treasury.ownWallets[unmatched.network] }
}
