import type { Needs } from '@market/core/context'
import { emit, emitToBuyer, lockBuyerEvents } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { payoutAddressHint } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Payout } from '@market/money/payouts'
import { findOrderIfAny } from '../store.ts'

type Ctx = Needs<'clock' | 'chains'>

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

export async function lockRefundEvent(tx: Tx, { subject }: Payout): Promise<void> {
  const order = await findOrderIfAny(tx, subject)
  if (order !== undefined) await lockBuyerEvents(tx, order.buyer)
}

/** Emits `order.refunded` to the buyer of an order when the refund is final. */
export async function emitRefunded(ctx: Ctx, tx: Tx, payout: Payout, reference: string): Promise<void> {
  const order = await findOrderIfAny(tx, payout.subject)
  if (order === undefined) return
  await emitToBuyer(ctx, tx, order, { event: 'order.refunded', data: sentData(ctx, payout, reference) })
}

/** Emits `order.payout_sent` to the agent when the transaction is final. */
export async function emitPayoutSent(ctx: Ctx, tx: Tx, payout: Payout, reference: string): Promise<void> {
  const { notifiedAgent, subject } = payout
  if (notifiedAgent === null) return
  const data = sentData(ctx, payout, reference)
  await emit(ctx, tx, { agentId: notifiedAgent, event: 'order.payout_sent', orderId: subject, data })
}

function sentData({ chains }: Ctx, { amount, network, payee }: Payout, reference: string) {
  assert(payee !== null, 'what was sent has a payee')
  return {
    amount_usd: formatUsd(amount),
    chain: CHAINS[network],
    tx_hash: reference,
    destination: chains[network]?.displayAddress(payee) ?? payee,
  }
}
