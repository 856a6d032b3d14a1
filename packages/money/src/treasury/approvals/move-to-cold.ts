import type { ApprovalRule } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import {
  moveToCold as move,
  type NetworkAmount,
  requireMinimum,
  requireMovable,
} from '../../payouts/index.ts'

type Ctx = Needs<'clock' | 'ids' | 'chains'>

/** USDC of the treasury to the cold address of the configuration. */
export const moveToCold: ApprovalRule<Ctx, NetworkAmount> = {
  async check(ctx, tx, moved) {
    const { network, amount } = moved
    const address = requireColdAddress(ctx, network)
    requireMinimum(ctx, moved)
    await requireMovable(tx, moved)
    return {
      subject: `cold:${network}`,
      summary: `move ${formatUsd(amount)} USDC of the treasury to the cold address ${address} on ${network}`,
      recipients: [],
    }
  },

  async execute(ctx, tx, { network, amount }, approvalId) {
    const address = requireColdAddress(ctx, network)
    const { id } = await move(ctx, tx, { network, amount, address }, approvalId)
    const details = { network, address, amount_usd: formatUsd(amount) }
    return { act: 'treasury.moved_to_cold', subject: id, details }
  },
}

function requireColdAddress({ chains }: Ctx, network: Network): string {
  const address = chains[network]?.cold
  if (address === undefined)
    throw new ApiError(
      'conflict',
      `There is no cold address on ${network}. Set <NETWORK>_COLD_ADDRESS for the api and the worker.`,
      { code: 'no_cold_address' },
    )
  return address
}
