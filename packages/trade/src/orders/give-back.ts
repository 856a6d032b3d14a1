import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Usdc } from '@market/kernel/money'
import { escrowAccount, findTransferFor } from '@market/money/payments'
import { requestPayout } from '@market/money/payouts'
import { type Core, type Order, type Payment, purposeOf } from './order.ts'

/** Sends what was paid back to the wallet that paid it. An order that was never paid has nothing to give. */
export async function giveBack(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'cancelled'>,
): Promise<void> {
  if (order.payment === undefined || order.price === undefined) return
  await refundPart(ctx, tx, order, order.payment, order.price)
}

/** All of an order's money or, of a split one, the buyer's part. */
export async function refundPart(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Pick<Core, 'id'>,
  { network }: Payment,
  amount: Usdc,
): Promise<void> {
  const purpose = purposeOf(order)
  const transfer = await findTransferFor(tx, purpose)
  assert(transfer !== undefined && transfer.payer !== null, `${order.id} was paid by a wallet`)
  await requestPayout(ctx, tx, {
    network,
    kind: 'refund',
    subject: order.id,
    payee: transfer.payer,
    amount,
    from: escrowAccount(network, purpose),
    purpose,
  })
}
