import type { ApprovalRule } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd } from '@market/kernel/money'
import {
  type NetworkAmount,
  requireFees,
  requireMinimum,
  withdrawFees as withdraw,
} from '../../payouts/index.ts'
import { requirePayee } from '../payee.ts'
import type { TreasurySettings } from '../settings.ts'

type Ctx = Needs<'clock' | 'ids' | 'signatures' | 'chains'> & { readonly treasury: TreasurySettings }

interface Withdrawal extends NetworkAmount {
  readonly payee: string
}

/** Fees to an address of the configuration. */
export const withdrawFees: ApprovalRule<Ctx, Withdrawal> = {
  async check(ctx, tx, withdrawal) {
    const { network, amount } = withdrawal
    const payee = requireFeeAddress(ctx, withdrawal)
    requireMinimum(ctx, withdrawal)
    await requireFees(tx, { network, amount })
    return {
      subject: `fees:${network}`,
      summary: `withdraw ${formatUsd(amount)} USDC of fees to ${payee} on ${network}`,
      recipients: [],
    }
  },

  async execute(ctx, tx, withdrawal, approvalId) {
    const { network, amount } = withdrawal
    const payee = requireFeeAddress(ctx, withdrawal)
    const { id } = await withdraw(ctx, tx, { network, amount, payee }, approvalId)
    return { act: 'fees.withdrawn', subject: id, details: { network, payee, amount_usd: formatUsd(amount) } }
  },
}

function requireFeeAddress(ctx: Ctx, { network, payee }: Withdrawal): string {
  const key = requirePayee(ctx, network, payee)
  if (!ctx.treasury.feeAddresses[network].includes(key))
    throw new ApiError(
      'conflict',
      `${payee} is not in the list of addresses to which fees may be withdrawn on ${network}. Use one of <NETWORK>_FEE_ADDRESSES.`,
      { code: 'not_our_wallet' },
    )
  return key
}
