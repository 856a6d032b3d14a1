import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { earlier, SECOND } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { claimTransfer, findPayment } from '@market/money/payments'
import { restoreDelivery } from './deadlines.ts'
import { notifyBuyer } from './notifications.ts'
import { awaitedUntil, type Order, type Payment, type PendingPayment, purposeOf } from './order.ts'
import { refundAmount } from './order-money.ts'
import { confirmPayment, transferQuery } from './pay-order.ts'
import { findOrder, leasePending, lockOrder, savePending } from './store.ts'

const BATCH = 50
const CHECK_EVERY_MS = 2 * SECOND
const ANY_AMOUNT = usdc(1n)

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>
type Waiting = Order<'accepted' | 'cancelled'>

/** Finds another transaction that carries the same payment; undefined when there is none. */
type FindReplacement = (order: OrderId, payment: Payment) => Promise<string | undefined>

/** Checks the pending transfers again: those that buyers named before they had enough confirmations. */
export async function finishPayments(
  ctx: Ctx,
  findReplacement: FindReplacement = async () => undefined,
): Promise<number> {
  const now = ctx.clock.now()
  const ids = await leasePending(ctx.db, { now, before: earlier(now, CHECK_EVERY_MS) }, BATCH)
  const done = await Promise.allSettled(ids.map((id) => finishPayment(ctx, id, findReplacement)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some pending payments could not be checked')
  return ids.length
}

async function finishPayment(ctx: Ctx, id: OrderId, findReplacement: FindReplacement): Promise<void> {
  const order = await findOrder(ctx.db, id)
  if (!isWaiting(order)) return
  const { pending } = order
  const verdict = await checkTransfer(ctx, order, pending)
  const other = isSeen(verdict) ? undefined : await findReplacement(id, pending)
  if (other !== undefined) return awaitReplacement(ctx, id, pending, other)
  if (verdict === undefined) return
  await transact(ctx.db, async (tx) => {
    const locked = await lockOrder(tx, id)
    // Another transfer was named meanwhile, or the order was paid.
    if (!isWaiting(locked) || locked.pending.reference !== pending.reference) return
    if (!isSeen(verdict)) return failPayment(ctx, tx, locked, verdict)
    try {
      await applyTransfer(ctx, tx, locked, verdict)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      await failPayment(ctx, tx, locked, error.message)
      if (locked.status === 'cancelled') await notifyNotRefunded(ctx, tx, locked, error.message)
    }
  })
}

/** Waits for the replacement transaction from now on. */
const awaitReplacement = (
  ctx: Ctx,
  id: OrderId,
  { reference }: PendingPayment,
  other: string,
): Promise<void> =>
  transact(ctx.db, async (tx) => {
    const order = await lockOrder(tx, id)
    if (!isWaiting(order) || order.pending.reference !== reference) return
    await savePending(tx, { ...order, pending: { ...order.pending, reference: other } }, ctx.clock.now())
  })

const isSeen = (verdict: IncomingTransfer | string | undefined): verdict is IncomingTransfer =>
  typeof verdict === 'object'

const isWaiting = (order: Order): order is Waiting & { pending: PendingPayment } =>
  (order.status === 'accepted' || order.status === 'cancelled') && order.pending !== null

/** The transfer, the reason why it does not pay the order, or undefined while it can still arrive. */
async function checkTransfer(
  ctx: Ctx,
  order: Waiting,
  pending: PendingPayment,
): Promise<IncomingTransfer | string | undefined> {
  try {
    // A cancelled order has no price: any amount is refunded.
    const question = transferQuery(order, order.status === 'accepted' ? order.price : ANY_AMOUNT, pending)
    const seen = await findPayment(ctx, pending.network, question)
    if (seen !== undefined) return seen
    const isOver = ctx.clock.now() > awaitedUntil(pending.since)
    return isOver
      ? 'The transfer was not found on the chain within an hour. Pay with another transfer.'
      : undefined
  } catch (error) {
    if (error instanceof ApiError && error.kind !== 'unavailable') return error.message
    throw error
  }
}

/** Pays the order; when it was cancelled meanwhile, refunds the transfer. */
async function applyTransfer(
  ctx: Ctx,
  tx: Tx,
  order: Waiting & { pending: PendingPayment },
  seen: IncomingTransfer,
): Promise<void> {
  const { network } = order.pending
  if (order.status === 'accepted') {
    await restoreDelivery(ctx, tx, await confirmPayment(ctx, tx, order, network, seen, order.buyer))
    return
  }
  await claimTransfer(ctx, tx, { network, seen, purpose: purposeOf(order), due: seen.amount })
  await refundAmount(ctx, tx, order, { network, reference: seen.reference }, seen.amount)
  await savePending(tx, { ...order, pending: null }, ctx.clock.now())
}

async function failPayment(ctx: Ctx, tx: Tx, order: Waiting, why: string): Promise<void> {
  const now = ctx.clock.now()
  if (order.status === 'cancelled') return savePending(tx, { ...order, pending: null }, now)
  await savePending(tx, { ...order, pending: null, paymentError: why.slice(0, 300) }, now)
  await notifyBuyer(ctx, tx, order, {
    kind: 'order.payment_failed',
    title: `The payment for “${order.title}” was not accepted`,
    body: why,
  })
}

/** One late transfer of a cancelled order is refunded automatically. The buyer has to ask for any further one. */
const notifyNotRefunded = (
  ctx: Ctx,
  tx: Tx,
  order: Waiting & { pending: PendingPayment },
  why: string,
): Promise<void> =>
  notifyBuyer(ctx, tx, order, {
    kind: 'order.payment_failed',
    title: `A transfer for “${order.title}” was not refunded`,
    body: `To get ${order.pending.reference} back, contact the marketplace. ${why}`,
  })
