import type { Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { formatUsd } from '@market/kernel/money'
import type { Payout } from './payout.ts'

const HINT =
  'Set a payout address on this network if there is none, then POST /api/orders/{order_id}/request-payout-retry.'

/** The agent hears that what it earned has left for good. */
export async function tellSent(
  ctx: Needs<'clock'>,
  tx: Tx,
  payout: Payout,
  reference: string,
): Promise<void> {
  const { toldAgent, payee, network, subject, amount } = payout
  if (toldAgent === null || payee === null) return
  await emit(ctx, tx, {
    agentId: toldAgent,
    event: 'order.payout_sent',
    orderId: subject,
    data: { amount_usd: formatUsd(amount), chain: network, tx_hash: reference, destination: payee },
  })
}

/** The agent hears that it did not, why, and what to do. */
export async function tellFailed(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<void> {
  const { toldAgent, reason, network, subject, amount } = payout
  if (toldAgent === null) return
  await emit(ctx, tx, {
    agentId: toldAgent,
    event: 'order.payout_failed',
    orderId: subject,
    data: { reason: reason ?? '', chain: network, amount_usd: formatUsd(amount), hint: HINT },
  })
}
