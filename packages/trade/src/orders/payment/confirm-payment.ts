import type { Needs } from '@market/core/context'
import { lockBuyerEvents } from '@market/core/events'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { isProvenOn } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { claimTransfer, underpaid } from '@market/money/payments'
import { countOrdered } from '@market/offers/listings'
import { pay } from '../changes.ts'
import { emitOrderPaid } from '../events.ts'
import { notifyBuyer } from '../notifications.ts'
import { type Core, type Order, payoutWait, purposeOf } from '../order.ts'
import { saveOrder } from '../store.ts'
import { refundSurplus } from './order-money.ts'

/** Pays the order with a confirmed transfer: one that was named, or that came with the order. */
export async function confirmPayment(
  ctx: Needs<'clock' | 'ids' | 'chains'>,
  tx: Tx,
  order: Order<'quoted' | 'accepted'>,
  network: Network,
  transfer: IncomingTransfer,
  actor: string,
  emitPaid: (ctx: Needs<'clock'>, tx: Tx, order: Order<'paid'>) => Promise<unknown> = emitOrderPaid,
): Promise<Order<'paid'>> {
  // The price can have changed since the chain was queried.
  if (transfer.amount < order.price) throw underpaid(order.price, transfer.amount)
  const now = ctx.clock.now()
  const payerProven = order.payerProven || isClientWallet(order, network, transfer)
  const paid = pay({ ...order, payerProven }, { network, reference: transfer.reference }, now)
  await lockBuyerEvents(tx, order.buyer)
  const { isNew } = await claimTransfer(ctx, tx, {
    network,
    seen: transfer,
    purpose: purposeOf(order),
    due: order.price,
  })
  assert(isNew, `${order.id} is unpaid, so its transfer was not claimed before`)
  await refundSurplus(ctx, tx, order, network, transfer)
  const saved = await saveOrder(tx, order, paid, { action: 'pay', role: 'buyer', actor, at: now })
  if (order.listingId !== null) await countOrdered(tx, order.listingId)
  await countOrders(tx, order.agentId, { total: 1 })
  await emitPaid(ctx, tx, saved)
  if (!payerProven && order.paymentMethod !== 'x402') await notifyOwnerOfPayer(ctx, tx, saved)
  return saved
}

/** The wallet that an ordinary order names has signed for it. That of a purchase is only the wallet that paid. */
const isClientWallet = (order: Core, network: Network, { payer }: IncomingTransfer): boolean =>
  order.paymentMethod === null && clientOn(order, network).some((key) => key === payer)

/** The wallet that the order names, where it was proven. */
export function clientOn({ clientWallet, clientProvenBy }: Core, network: Network): string[] {
  if (clientWallet === null) return []
  const wallet = { key: clientWallet, ...(clientProvenBy !== null && { provenBy: clientProvenBy }) }
  return isProvenOn(wallet, network) ? [clientWallet] : []
}

const notifyOwnerOfPayer = (ctx: Needs<'clock' | 'ids'>, tx: Tx, order: Order<'paid'>): Promise<void> =>
  notifyBuyer(ctx, tx, order, {
    kind: 'order.paid_from_owner_wallet',
    title: `Your agent paid for “${order.title}” with a transfer of your wallet`,
    body: `The wallet did not sign, so the seller is paid after ${payoutWait(order)?.toISOString()} at the earliest. If you made the transfer for something else, name it there: your own order or your signature takes it back.`,
  })
