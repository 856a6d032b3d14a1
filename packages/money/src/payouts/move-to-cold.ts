import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, usdc } from '@market/kernel/money'
import { cold, totals } from '../ledger/index.ts'
import type { NetworkAmount } from './earnings/store.ts'
import { saveApproval } from './limits/store.ts'
import type { Payout } from './payout.ts'
import { requestPayout } from './request-payout.ts'
import { lockNetwork } from './store.ts'

/** The treasury must keep what it is about to pay out, also to depositors of Earn as liquidity arrives. */
export async function requireMovable(tx: Tx, { network, amount }: NetworkAmount): Promise<void> {
  const { treasuryView, liabilities } = await totals(tx, network)
  const movable = treasuryView - liabilities.payable - liabilities.withdrawal
  if (amount <= movable) return
  throw new ApiError(
    'conflict',
    `${formatUsd(usdc(movable > 0n ? movable : 0n))} USDC can be moved on ${network}; the treasury needs the rest for payouts that wait. Propose a smaller amount.`,
    { code: 'treasury_too_low' },
  )
}

/**
 * Moves USDC from the treasury to the cold address, as two operators approved. The account of the address counts it at
 * once, and the payout owes it until it is there.
 */
export async function moveToCold(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, amount, address }: NetworkAmount & { readonly address: string },
  approvalId: string,
): Promise<Payout> {
  // One at a time: two could each find what only one can have.
  await lockNetwork(tx, network)
  await requireMovable(tx, { network, amount })
  const payout = await requestPayout(ctx, tx, {
    network,
    kind: 'move_to_cold',
    subject: approvalId,
    payee: address,
    amount,
    from: cold(network, address),
  })
  await saveApproval(tx, payout.id, approvalId, ctx.clock.now())
  return payout
}
