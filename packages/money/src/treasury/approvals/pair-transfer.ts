import type { ApprovalRule } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { formatUsd } from '@market/kernel/money'
import { transferName } from '../../payments/index.ts'
import { lockPair, type Pair, pairTransfer as pairAs } from '../../payouts/index.ts'
import { unmatchedIdOf } from '../unmatched-id.ts'
import { walletRecipients } from './recipients.ts'

/** A payment whose payout the database has lost, charged to the money that paid for its order. */
export const pairTransfer: ApprovalRule<Needs<'clock' | 'ids'>, Pair> = {
  async check(_ctx, tx, pair) {
    const { transfer, payer, left } = await lockPair(tx, pair)
    const { network, payee, amount } = transfer
    return {
      subject: unmatchedIdOf({ ...pair.received, from: 'suspense' }),
      summary: `charge the payment ${transferName(pair.sent)} of ${formatUsd(amount)} USDC to ${payee} on ${network} to transfer ${transferName(pair.received)}, which keeps ${formatUsd(left)} USDC`,
      recipients: walletRecipients(payer),
    }
  },

  async execute(ctx, tx, pair) {
    const { network, payee, amount, pairedWith } = await pairAs(ctx, tx, pair)
    return {
      act: 'transfer.paired',
      subject: transferName(pair.sent),
      details: { network, payee, amount_usd: formatUsd(amount), transfer: pairedWith },
    }
  },
}
