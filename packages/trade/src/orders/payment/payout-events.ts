import type { Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { payoutAddressHint } from '@market/identity/agents'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Payout } from '@market/money/payouts'

/** How the specification names the chains of payouts. */
const CHAINS = {
  'solana-mainnet': 'solana',
  'base-mainnet': 'base',
  'alt-mainnet': 'alt',
} as const satisfies Record<Network, string>

const hintFor = (network: Network): string =>
  `If the agent has no payout address on ${network}: ${payoutAddressHint(network)} Then POST /api/orders/{order_id}/request-payout-retry.`

/** Emits `order.payout_failed` to the agent of an order, if the payout names one. */
export async function emitPayoutFailed(ctx: Needs<'clock'>, tx: Tx, payout: Payout): Promise<void> {
  const { notifiedAgent, reason, network, subject, amount } = payout
  if (notifiedAgent === null) return
  await emit(ctx, tx, {
    agentId: notifiedAgent,
    event: 'order.payout_failed',
    orderId: subject,
    data: {
      reason: reason ?? '',
      chain: CHAINS[network],
      amount_usd: formatUsd(amount),
      hint: hintFor(network),
    },
  })
}

export async function emitPayoutSent(
  ctx: Needs<'clock' | 'chains'>,
  tx: Tx,
  { notifiedAgent, payee, network, subject, amount }: Payout,
  reference: string,
): Promise<void> {
  if (notifiedAgent === null || payee === null) return
  await emit(ctx, tx, {
    agentId: notifiedAgent,
    event: 'order.payout_sent',
    orderId: subject,
    data: {
      amount_usd: formatUsd(amount),
      chain: CHAINS[network],
      tx_hash: reference,
      destination: ctx.chains[network]?.displayAddress(payee) ?? payee,
    },
  })
}
