import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import type { ClaimedTransfer, Transfer } from '@market/money/payments'
import { countOrdered } from '../listings/index.ts'
import { cancel, contest, undo, undoCancelled } from './changes.ts'
import { emitOrderCancelled, emitOrderDisputed } from './events.ts'
import { notifyBuyer } from './notifications.ts'
import { contestableUntil, type Order, type PendingPayment } from './order.ts'
import { restoreEscrow, withdrawOrderPayouts } from './order-money.ts'
import { policyOf } from './policy.ts'
import { BY_CLOCK, requireTransition } from './states.ts'
import { hasStep, lockOrder, saveOrder, savePending } from './store.ts'

const REASON = 'A reorganisation of the chain removed the transfer that paid this order. Pay again.'

type Ctx = Needs<'clock' | 'ids'>

/** Reverses the payment of an order after a reorganisation, and asks the buyer to pay again. */
export async function undoPayment(ctx: Ctx, tx: Tx, transfer: ClaimedTransfer<'order'>): Promise<void> {
  const waiting = await reversePayment(ctx, tx, transfer)
  if (waiting === undefined) return
  await notifyBuyer(ctx, tx, waiting, {
    kind: 'order.payment_undone',
    title: `The payment for “${waiting.title}” was reversed`,
    body: REASON,
  })
}

/** Undefined when the order does not wait for another payment: it is cancelled, or was not paid. */
async function reversePayment(
  ctx: Ctx,
  tx: Tx,
  transfer: ClaimedTransfer<'order'>,
): Promise<Order<'accepted'> | undefined> {
  const order = await lockOrder(tx, transfer.purpose.id)
  await withdrawOrderPayouts(ctx, tx, order, transfer)
  const now = ctx.clock.now()
  if (order.status === 'cancelled') {
    await savePending(tx, undoCancelled(order, awaitReconfirmation(transfer, now)), now)
    return undefined
  }
  if (!('payment' in order)) return undefined
  await countOrdered(tx, order.listingId, -1)
  await countOrders(tx, order.agentId, { total: -1 })
  const pending = policyOf(order).awaitsSameTransfer ? awaitReconfirmation(transfer, now) : null
  return saveOrder(tx, order, undo(order, now, REASON, pending), { ...BY_CLOCK, action: 'undo', at: now })
}

/** A transfer that a reorganisation removed is usually mined again. */
function awaitReconfirmation({ network, reference, payer }: Transfer, since: Date): PendingPayment {
  assert(payer !== null, `${reference} was paid by a wallet`)
  return { network, reference, payers: [payer], since }
}

/**
 * Cancels an order that another caller placed with the payer's transfer. The transfer is not refunded here: the payer
 * uses it for another order. After the delivery an arbiter decides, because the payer could have placed the order.
 * Returns false when it is too late for both.
 */
export async function cancelContested(
  ctx: Ctx,
  tx: Tx,
  transfer: ClaimedTransfer<'order'>,
  actor: `wallet:${string}`,
): Promise<'cancelled' | 'disputed' | false> {
  const { id } = transfer.purpose
  const order = await lockOrder(tx, id)
  if (!('payment' in order) || order.payment === undefined || order.status === 'cancelled') return false
  const until = contestableUntil(order)
  const now = ctx.clock.now()
  if (until === undefined || now >= until) return false
  if (order.status === 'completed') return disputeContested(ctx, tx, order, transfer, actor)
  if (order.status === 'disputed') return 'disputed'
  // Without a notification: the payer must not be asked to pay again.
  await reversePayment(ctx, tx, transfer)
  const waiting = await lockOrder(tx, id)
  requireTransition(waiting, 'cancel')
  const step = { action: 'cancel', role: 'buyer', actor, at: now } as const
  const cancelled = await saveOrder(tx, waiting, { ...cancel(waiting, now), pending: null }, step)
  await emitOrderCancelled(ctx, tx, cancelled, order.status)
  return 'cancelled'
}

/** An arbiter decides once about an order. */
async function disputeContested(
  ctx: Ctx,
  tx: Tx,
  order: Order<'completed'>,
  transfer: ClaimedTransfer<'order'>,
  actor: string,
): Promise<'disputed' | false> {
  if (await hasStep(tx, order.id, 'award')) return false
  await restoreEscrow(ctx, tx, order, transfer)
  const step = { action: 'contest', role: 'buyer', actor, at: ctx.clock.now() } as const
  const disputed = await saveOrder(tx, order, contest(order), step)
  await emitOrderDisputed(ctx, tx, disputed)
  return 'disputed'
}
