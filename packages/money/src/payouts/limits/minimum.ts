import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, type Usdc, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Hold } from '../hold.ts'

/** The least that is sent on a network: anybody could make the treasury pay for many smaller payouts. */
export const minPayoutOn = ({ chains }: Needs<'chains'>, network: Network): Usdc =>
  chains[network]?.minPayout ?? ZERO

interface Sent {
  readonly network: Network
  readonly amount: Usdc
}

export function minimumHold(ctx: Needs<'chains'>, { network, amount }: Sent): Hold | undefined {
  const minimum = minPayoutOn(ctx, network)
  // fix: minimum-payout
  return amount < minimum
    ? { code: 'below_minimum', detail: `${formatUsd(amount)} of ${formatUsd(minimum)} USDC` }
    : undefined
}

export function requireMinimum(ctx: Needs<'chains'>, { network, amount }: Sent): void {
  const minimum = minPayoutOn(ctx, network)
  // fix: minimum-refund
  if (amount < minimum)
    throw new ApiError(
      'conflict',
      `${formatUsd(amount)} USDC is below the minimum payout of ${formatUsd(minimum)} USDC on ${network}. Nothing was sent, and the money stays where it is.`,
      { code: 'below_minimum' },
    )
}
