import type { Needs } from '@market/core/context'
import { lockBuyerEvents } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { OrderId } from '@market/kernel/ids'
import { type ClaimedTransfer, cancelIntent, findTransferFor } from '@market/money/payments'
import { contestPayout, endContestWait, isStoppable, rejectWhileAlive } from '@market/money/payouts'
import { sql } from 'kysely'
import { cancel, confirmPayer as confirm } from '../changes.ts'
import { emitOrderCancelled, emitPaymentContested } from '../events.ts'
import { notifyAgentOwner, notifyBuyer } from '../notifications.ts'
import { type Buyer, contestAt, isOpenWorkspace, type Order, purposeOf } from '../order.ts'
import { BY_CLOCK, requireTransition, type Status, TRANSITIONS } from '../states.ts'
import { lockOrder, saveOrder } from '../store.ts'
import { completedUnits } from '../workspace.ts'
import { refundBuyer, restoreEscrow, surplusSubject } from './order-money.ts'
import { reversePayment } from './undo-payment.ts'

type Ctx = Needs<'clock' | 'ids'>

/** What a further naming of the order's transfer meets. The x402 module decides what follows from it. */
export type NamedStatus = 'bound' | 'unbound' | 'contested' | 'ended'

// fix: contested-while-reviewed
const WAS_DELIVERED: readonly Status[] = ['delivered', 'revision_requested', 'disputed', 'completed']
const HAS_PAYMENT: readonly Status[] = ['paid', 'in_progress', ...WAS_DELIVERED]

const hasPayment = (order: Order): order is Extract<Order, { payment: unknown }> =>
  HAS_PAYMENT.includes(order.status)

/** A workspace in which generations were completed was delivered in part: a refund would take them for nothing. */
// fix: delivered-in-part
const isDelivered = (order: Order): boolean =>
  WAS_DELIVERED.includes(order.status) || (isOpenWorkspace(order) && completedUnits(order) > 0)

/** Every order whose payment is contested; null in `ends_at` when an arbiter decides. */
export const contestedOrders = sql`
  (select id, contested_at, contest_ends_at as ends_at from orders where contested_at is not null)`

/** Locks the order until the transaction ends. `ended`: the payment was paid out, refunded or reversed. */
export async function lockNamedOrder(tx: Tx, id: OrderId): Promise<NamedStatus> {
  const order = await lockOrder(tx, id)
  if (order.payerProven) return 'bound'
  if (!hasPayment(order) || !(await isStoppable(tx, 'payout', id))) return 'ended'
  return order.contest === null ? 'unbound' : 'contested'
}

/** Another request named the transfer with other content. It holds the payout and stops the order, nothing else. */
export async function contestOrder(ctx: Ctx, tx: Tx, id: OrderId): Promise<void> {
  const order = await lockOrder(tx, id)
  requireTransition(order, 'contest_payment')
  const now = ctx.clock.now()
  const contest = contestAt(now, isDelivered(order))
  const step = { ...BY_CLOCK, action: 'contest_payment', at: now } as const
  const contested = await saveOrder(tx, order, { ...order, contest }, step)
  if (order.status === 'completed') await contestPayout(ctx, tx, id, now)
  await emitPaymentContested(ctx, tx, contested)
  const notification = {
    kind: 'order.payment_contested',
    title: `The payment for “${order.title}” is contested`,
    body: endOf(contested),
  }
  await notifyBuyer(ctx, tx, contested, notification)
  await notifyAgentOwner(ctx, tx, contested, notification)
}

const endOf = ({ contest }: Order): string =>
  contest === null || contest.endsAt === null
    ? 'Two requests named its transfer. The wallet that paid signs for one of them, or an arbiter decides.'
    : `Two requests named its transfer. If the wallet that paid signs for neither by ${contest.endsAt.toISOString()}, the payment is refunded to it.`

/** While the payment is contested nobody can act on the order. */
export function rejectWhileContested(order: Order): void {
  if (order.contest === null) return
  const endsAt = order.contest.endsAt?.toISOString() ?? null
  throw new ApiError('conflict', `The payment of this order is contested. ${endOf(order)}`, {
    code: 'payment_contested',
    fields: { contested_at: order.contest.at.toISOString(), contest_ends_at: endsAt },
  })
}

/** The payer signed for this order: its payout waits no longer, and nobody can contest it. */
export async function confirmPayer(ctx: Ctx, tx: Tx, id: OrderId, actor: `wallet:${string}`): Promise<void> {
  const order = await lockOrder(tx, id)
  requireTransition(order, 'confirm_payer')
  const transfer = await findTransferFor(tx, purposeOf(order))
  // fix: proof-waits
  if (transfer !== undefined) await rejectWhileAlive(tx, transfer)
  const now = ctx.clock.now()
  const step = { action: 'confirm_payer', role: 'buyer', actor, at: now } as const
  await saveOrder(tx, order, confirm(order, now), step)
  await endContestWait(ctx, tx, id)
}

/**
 * Ends the order of a transfer whose payer signed for something else. `released`: the money is in escrow and surplus
 * and can be used again. `refunded`: a part of the transfer was already returned, so the rest is refunded too. In the same
 * transaction the transfer may pay an order of one of `nextBuyers`.
 */
export async function releasePayment(
  ctx: Ctx,
  tx: Tx,
  transfer: ClaimedTransfer<'order'>,
  actor: `wallet:${string}`,
  nextBuyers: readonly Buyer[],
): Promise<'released' | 'refunded'> {
  const { id } = transfer.purpose
  // fix: reassignment-waits
  await rejectWhileAlive(tx, transfer)
  const order = await lockOrder(tx, id)
  await lockBuyerEvents(tx, order.buyer, ...nextBuyers)
  const now = ctx.clock.now()
  if (!(await isStoppable(tx, 'surplus', surplusSubject(order, transfer.network)))) {
    await refundPayer(ctx, tx, transfer, actor)
    return 'refunded'
  }
  // Without a notification: the payer must not be asked to pay again.
  await reversePayment(ctx, tx, transfer)
  const waiting = await lockOrder(tx, id)
  requireTransition(waiting, 'cancel')
  const step = { action: 'cancel', role: 'buyer', actor, at: now } as const
  await cancelIntent(tx, transfer.purpose)
  const cancelled = await saveOrder(tx, waiting, { ...cancel(waiting, now), pending: null }, step)
  await emitOrderCancelled(ctx, tx, cancelled, order.status)
  return 'released'
}

async function refundPayer(
  ctx: Ctx,
  tx: Tx,
  transfer: ClaimedTransfer<'order'>,
  actor: `wallet:${string}`,
): Promise<void> {
  const order = await lockOrder(tx, transfer.purpose.id)
  assert(hasPayment(order), `${order.id} has its payment`)
  const now = ctx.clock.now()
  if (order.status === 'completed') await restoreEscrow(ctx, tx, order, transfer)
  const action = 'cancel' in TRANSITIONS[order.status] ? ('cancel' as const) : ('return_payment' as const)
  const cancelled = await saveOrder(tx, order, cancel(order, now), { action, role: 'buyer', actor, at: now })
  await refundBuyer(ctx, tx, cancelled)
  await emitOrderCancelled(ctx, tx, cancelled, order.status)
}
