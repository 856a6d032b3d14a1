import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import type { ClaimedTransfer, Transfer } from '@market/money/payments'
import { countOrdered } from '../listings/index.ts'
import { undo, undoCancelled } from './changes.ts'
import { tellBuyer } from './notices.ts'
import type { Order, PendingPayment } from './order.ts'
import { BY_CLOCK } from './states.ts'
import { lockOrder, saveOrder, savePending } from './store.ts'
import { keepSurplus } from './surplus.ts'
import { unsettle } from './unsettle.ts'

const WHY = 'The chain undid the transfer that paid. Pay again.'

/**
 * A reorganisation took back a payment that an order stood on. Nothing has left for it, for payouts wait until their
 * payment is final; so what was set aside goes back to escrow, from where the payment itself is undone.
 */
export async function undoPayment(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<'order'>,
  tell: typeof tellUndone = tellUndone,
): Promise<void> {
  const order = await lockOrder(tx, transfer.purpose.id)
  await unsettle(ctx, tx, order, transfer)
  await keepSurplus(ctx, tx, order, transfer)
  const now = ctx.clock.now()
  if (order.status === 'cancelled')
    return savePending(tx, undoCancelled(order, comingAgain(transfer, now)), now)
  if (!('payment' in order)) return
  await countOrdered(tx, order.listingId, -1)
  await countOrders(tx, order.agentId, { total: -1 })
  // No program waits to be told: its transfer is watched for, as that of a cancelled order is.
  const pending = order.paymentMethod === 'x402' ? comingAgain(transfer, now) : null
  const waiting = await saveOrder(tx, order, undo(order, now, WHY, pending), {
    ...BY_CLOCK,
    action: 'undo',
    at: now,
  })
  await tell(ctx, tx, waiting)
}

const tellUndone = (ctx: Needs<'clock' | 'ids'>, tx: Tx, order: Order<'accepted'>): Promise<void> =>
  tellBuyer(ctx, tx, order, {
    kind: 'order.payment_undone',
    title: `The payment for “${order.title}” was undone`,
    body: WHY,
  })

/** What a reorganisation dropped is usually mined again. */
function comingAgain({ network, reference, payer }: Transfer, since: Date): PendingPayment {
  assert(payer !== null, `${reference} was paid by a wallet`)
  return { network, reference, payers: [payer], since }
}
