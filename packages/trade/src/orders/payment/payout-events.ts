import type { Needs } from '@market/core/context'
import { emit, emitToBuyer, lockBuyerEvents } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { payoutAddressHint } from '@market/identity/agents'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Payout } from '@market/money/payouts'
import type { Order } from '../order.ts'
import { findOrderIfAny } from '../store.ts'

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

/** The order whose payment the payout refunds. A surplus is a part of a transfer, and has no event. */
const refundedOrder = async (tx: Tx, { kind, subject }: Payout): Promise<Order | undefined> =>
  kind === 'refund' ? findOrderIfAny(tx, subject) : undefined

export async function lockRefundEvent(tx: Tx, payout: Payout): Promise<void> {
  const order = await refundedOrder(tx, payout)
  if (order !== undefined) await lockBuyerEvents(tx, order.buyer)
}

/** Emits `order.refunded` to the buyer, or `order.payout_sent` to the agent, when the transaction is final. */
export async function emitPayoutSent(
  ctx: Needs<'clock' | 'chains'>,
  tx: Tx,
  payout: Payout,
  reference: string,
): Promise<void> {
  const { notifiedAgent, payee, network, subject, amount } = payout
  if (payee === null) return
  const data = {
    amount_usd: formatUsd(amount),
    chain: CHAINS[network],
    tx_hash: reference,
    destination: ctx.chains[network]?.displayAddress(payee) ?? payee,
  }
  const order = await refundedOrder(tx, payout)
  if (order !== undefined) await emitToBuyer(ctx, tx, order, { event: 'order.refunded', data })
  if (notifiedAgent !== null)
    await emit(ctx, tx, { agentId: notifiedAgent, event: 'order.payout_sent', orderId: subject, data })
}
