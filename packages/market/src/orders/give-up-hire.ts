import type { Tx } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import type { Needs } from '../context.ts'
import type { Transfer } from '../payments/index.ts'
import { cancel } from './changes.ts'
import { contestedUntil } from './contested.ts'
import { tellCancelled } from './events.ts'
import { allow } from './states.ts'
import { lockOrder, saveOrder } from './store.ts'
import { undoPayment } from './undo-payment.ts'

/**
 * Ends a program's order whose payment was somebody else's, delivered or not: as if the payment had never come, and with
 * nothing to give back, for it goes to who made it. False when it is too late for that.
 */
export async function giveUpHire(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  id: OrderId,
  transfer: Transfer,
  actor: string,
): Promise<boolean> {
  const order = await lockOrder(tx, id)
  if (!('payment' in order) || order.payment === undefined || order.status === 'cancelled') return false
  const until = await contestedUntil(tx, order)
  const now = ctx.clock.now()
  if (until === undefined || now >= until) return false
  // Who made the payment has just taken it back, and must not be told to pay again.
  await undoPayment(ctx, tx, transfer, async () => undefined)
  const waiting = await lockOrder(tx, id)
  allow(waiting, 'cancel')
  const cancelled = { ...cancel(waiting, now), pending: null }
  const saved = await saveOrder(tx, waiting, cancelled, { action: 'cancel', actor, at: now })
  await tellCancelled(ctx, tx, saved, order.status)
  return true
}
