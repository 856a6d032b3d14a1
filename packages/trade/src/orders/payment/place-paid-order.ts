import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { lockPrincipal } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { later } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { quote } from '../changes.ts'
import { type NewOrder, newOrder, type Terms } from '../create-order.ts'
import { continuePaid } from '../deadlines.ts'
import type { Buyer, Order } from '../order.ts'
import type { PaymentMethod } from '../policy.ts'
import { insertOrder } from '../store.ts'
import { confirmPayment } from './confirm-payment.ts'

export interface PaidOrder extends Omit<NewOrder, 'clientWallet' | 'clientProvenBy'> {
  readonly terms: Terms
  readonly paymentMethod: NonNullable<PaymentMethod>
  /** Who the order is for; without one it is for the wallet that paid, and nobody reviews the delivery. */
  readonly buyer?: Buyer | undefined
  /** How long the payout waits, because the payer is not proven; null when the payer is proven. */
  readonly payoutWaitMs: number | null
  readonly network: Network
  readonly transfer: IncomingTransfer
  /** The price at the time of the payment; the listing can have another one by now. */
  readonly due: Usdc
  /** The one event of the agent. */
  readonly emitPlaced: (ctx: Needs<'clock'>, tx: Tx, order: Order<'paid'>) => Promise<unknown>
}

/** Places an order that comes with its payment: it is created as paid. */
export async function placePaidOrder(
  ctx: Needs<'clock' | 'ids' | 'chains'>,
  tx: Tx,
  {
    terms,
    paymentMethod,
    buyer: wanted,
    payoutWaitMs,
    network,
    transfer,
    due,
    emitPlaced,
    ...request
  }: PaidOrder,
): Promise<Order<'paid'>> {
  assert(transfer.payer !== null, `${transfer.reference} was paid by a wallet`)
  const principal = await lockPrincipal(tx, wanted)
  const buyer = principal ?? (`wallet:${transfer.payer}` as const)
  const order = newOrder(ctx, buyer, terms, {
    ...request,
    clientWallet: transfer.payer,
    clientProvenBy: network,
  })
  const binding = {
    payerProven: payoutWaitMs === null,
    payoutWaitsUntil: payoutWaitMs === null ? null : later(order.createdAt, payoutWaitMs),
  }
  const quoted = quote({ ...order, ...binding, paymentMethod, forPrincipal: principal !== undefined }, due, {
    until: null,
    message: null,
  })
  await insertOrder(tx, quoted)
  const paid = await confirmPayment(ctx, tx, quoted, network, transfer, buyer, emitPlaced)
  await continuePaid(ctx, tx, paid)
  return paid
}
