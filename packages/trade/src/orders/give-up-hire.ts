import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { ClaimedTransfer } from '@market/money/payments'
import { cancel, contest } from './changes.ts'
import { contestedUntil } from './contested.ts'
import { tellCancelled, tellDisputed } from './events.ts'
import type { Order } from './order.ts'
import { allow } from './states.ts'
import { hasStep, lockOrder, saveOrder } from './store.ts'
import { undoPayment } from './undo-payment.ts'
import { unsettle } from './unsettle.ts'

/**
 * Ends a program's order whose payment was somebody else's: as if the payment had never come, and with nothing to give
 * back, for it goes to who made it. Once the work is delivered that could as well be a buyer who wants it for nothing,
 * so then an arbiter decides. False when it is too late for either.
 */
export async function giveUpHire(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<'order'>,
  actor: string,
): Promise<'ended' | 'disputed' | false> {
  const { id } = transfer.purpose
  const order = await lockOrder(tx, id)
  if (!('payment' in order) || order.payment === undefined || order.status === 'cancelled') return false
  const until = await contestedUntil(tx, order)
  const now = ctx.clock.now()
  if (until === undefined || now >= until) return false
  if (order.status === 'completed') return askArbiter(ctx, tx, order, transfer, actor)
  if (order.status === 'disputed') return 'disputed'
  // Who made the payment has just taken it back, and must not be told to pay again.
  await undoPayment(ctx, tx, transfer, async () => undefined)
  const waiting = await lockOrder(tx, id)
  allow(waiting, 'cancel')
  const cancelled = { ...cancel(waiting, now), pending: null }
  const saved = await saveOrder(tx, waiting, cancelled, { action: 'cancel', role: 'buyer', actor, at: now })
  await tellCancelled(ctx, tx, saved, order.status)
  return 'ended'
}

/** What an arbiter has decided once is not asked again. */
async function askArbiter(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'completed'>,
  transfer: ClaimedTransfer<'order'>,
  actor: string,
): Promise<'disputed' | false> {
  if (await hasStep(tx, order.id, 'award')) return false
  await unsettle(ctx, tx, order, transfer)
  const step = { action: 'contest', role: 'buyer', actor, at: ctx.clock.now() } as const
  const disputed = await saveOrder(tx, order, contest(order), step)
  await tellDisputed(ctx, tx, disputed)
  return 'disputed'
}
