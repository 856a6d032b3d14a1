import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { earlier, HOUR, SECOND } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { claimTransfer, findPayment } from '@market/money/payments'
import { refundPart } from './give-back.ts'
import { tellBuyer } from './notices.ts'
import { type Order, type Payment, type PendingPayment, purposeOf } from './order.ts'
import { questionOf, takePayment } from './pay-order.ts'
import { releaseDelivered } from './release-delivered.ts'
import { findOrder, lockOrder, savePending, takePending } from './store.ts'

const BATCH = 50
const LOOK_EVERY_MS = 2 * SECOND
/** A transfer that no node has heard of for so long was never sent, or was dropped. */
const WAIT_MS = 1 * HOUR

const LEAST = usdc(1n)

type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>
type Waiting = Order<'accepted' | 'cancelled'>

/** Where else a payment may have come to the chain than where it was waited for; undefined when it did not. */
type Elsewhere = (order: OrderId, payment: Payment) => Promise<string | undefined>

/** Observations again at transfers that were named before they were settled enough to count. */
export async function finishPayments(
  ctx: Ctx,
  elsewhere: Elsewhere = async () => undefined,
): Promise<number> {
  const now = ctx.clock.now()
  const ids = await takePending(ctx.db, { now, before: earlier(now, LOOK_EVERY_MS) }, BATCH)
  const done = await Promise.allSettled(ids.map((id) => finishPayment(ctx, id, elsewhere)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some payments could not be looked at')
  return ids.length
}

async function finishPayment(ctx: Ctx, id: OrderId, elsewhere: Elsewhere): Promise<void> {
  const order = await findOrder(ctx.db, id)
  if (!isWaiting(order)) return
  const { pending } = order
  const verdict = await lookAt(ctx, order, pending)
  const other = isSeen(verdict) ? undefined : await elsewhere(id, pending)
  if (other !== undefined) return waitElsewhere(ctx, id, pending, other)
  if (verdict === undefined) return
  await transact(ctx.db, async (tx) => {
    const locked = await lockOrder(tx, id)
    // Another transfer was named meanwhile, or the order was paid: the look was at something else.
    if (!isWaiting(locked) || locked.pending.reference !== pending.reference) return
    if (!isSeen(verdict)) return failPayment(ctx, tx, locked, verdict)
    try {
      await take(ctx, tx, locked, verdict)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      await failPayment(ctx, tx, locked, error.message)
      if (locked.status === 'cancelled') await tellLeft(ctx, tx, locked, error.message)
    }
  })
}

/** From now on the same payment is waited for where it is. */
const waitElsewhere = (ctx: Ctx, id: OrderId, { reference }: PendingPayment, other: string): Promise<void> =>
  transact(ctx.db, async (tx) => {
    const order = await lockOrder(tx, id)
    if (!isWaiting(order) || order.pending.reference !== reference) return
    await savePending(tx, { ...order, pending: { ...order.pending, reference: other } }, ctx.clock.now())
  })

const isSeen = (verdict: IncomingTransfer | string | undefined): verdict is IncomingTransfer =>
  typeof verdict === 'object'

const isWaiting = (order: Order): order is Waiting & { pending: PendingPayment } =>
  (order.status === 'accepted' || order.status === 'cancelled') && order.pending !== null

/** The transfer, why it will not do, or undefined while it may still come. */
async function lookAt(
  ctx: Ctx,
  order: Waiting,
  pending: PendingPayment,
): Promise<IncomingTransfer | string | undefined> {
  try {
    // Of a cancelled order nothing is due: whatever came goes back.
    const question = questionOf(order, order.status === 'accepted' ? order.price : LEAST, pending)
    const seen = await findPayment(ctx, pending.network, question)
    if (seen !== undefined) return seen
    const isOver = ctx.clock.now().getTime() - pending.since.getTime() > WAIT_MS
    return isOver ? 'The transfer was not found on the chain within an hour' : undefined
  } catch (error) {
    if (error instanceof ApiError && error.kind !== 'unavailable') return error.message
    throw error
  }
}

/** Too late for an order that was cancelled meanwhile: the money goes back to who sent it. */
async function take(
  ctx: Ctx,
  tx: Tx,
  order: Waiting & { pending: PendingPayment },
  seen: IncomingTransfer,
): Promise<void> {
  const { network } = order.pending
  if (order.status === 'accepted') {
    await releaseDelivered(ctx, tx, await takePayment(ctx, tx, order, network, seen, order.buyer))
    return
  }
  await claimTransfer(ctx, tx, { network, seen, purpose: purposeOf(order), due: seen.amount })
  await refundPart(ctx, tx, order, { network, reference: seen.reference }, seen.amount)
  await savePending(tx, { ...order, pending: null }, ctx.clock.now())
}

async function failPayment(ctx: Ctx, tx: Tx, order: Waiting, why: string): Promise<void> {
  const now = ctx.clock.now()
  if (order.status === 'cancelled') return savePending(tx, { ...order, pending: null }, now)
  await savePending(tx, { ...order, pending: null, paymentError: why.slice(0, 300) }, now)
  await tellBuyer(ctx, tx, order, {
    kind: 'order.payment_failed',
    title: `The payment for “${order.title}” did not count`,
    body: why,
  })
}

/** Of a cancelled order one late transfer goes back by itself: who sent another must hear that it did not. */
const tellLeft = (
  ctx: Ctx,
  tx: Tx,
  order: Waiting & { pending: PendingPayment },
  why: string,
): Promise<void> =>
  tellBuyer(ctx, tx, order, {
    kind: 'order.payment_failed',
    title: `A transfer for “${order.title}” did not go back by itself`,
    body: `Ask the marketplace for ${order.pending.reference} if you miss it. ${why}`,
  })
