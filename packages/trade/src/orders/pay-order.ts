import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { CommitThenReject, type Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { FOREVER } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { claimTransfer, findPayment } from '@market/money/payments'
import { countOrdered } from '../listings/index.ts'
import { accept, pay, rejectLateNaming } from './changes.ts'
import { tellPaid } from './events.ts'
import { moveIfDue } from './move-if-due.ts'
import {
  type Core,
  earliestPayment,
  type Order,
  type Payment,
  type PendingPayment,
  purposeOf,
} from './order.ts'
import { type Party, roleIn } from './party.ts'
import { releaseDelivered } from './release-delivered.ts'
import { allow, allowRole, illegalTransition } from './states.ts'
import { findOrder, lockOrder, saveOrder, savePending } from './store.ts'
import { giveSurplusBack } from './surplus.ts'

export interface PayOrder {
  readonly orderId: OrderId
  readonly network: Network
  /** A Solana signature or an EVM transaction hash, normalized. */
  readonly reference: string
}

/**
 * Frees the transfer when another order was paid with it although one of the buyer's wallets made it. Returns the error
 * to reject the request with when an operator has to decide. The module that binds payments to payers implements it.
 */
export type ReleaseContested = (
  tx: Tx,
  payment: Payment & { readonly orderId: OrderId; readonly payers: readonly string[] },
) => Promise<ApiError | undefined>

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains'>

/**
 * Pays an order with a transfer that the buyer already made.
 *
 * The chain is queried before the transaction starts, because it can be slow. The result is checked again under the
 * order's lock; the unique key of the transfer decides when several requests use the same one. A transfer without enough
 * confirmations moves the order to `accepted`, and the payment sweep completes it later.
 */
export async function payOrder(
  ctx: Ctx,
  party: Party,
  { orderId, network, reference }: PayOrder,
  releaseContested: ReleaseContested,
): Promise<Order> {
  const found = await findOrder(ctx.db, orderId)
  allowRole(await roleIn(ctx.db, found, party), 'pay')
  const payment = { network, reference }
  if (isPaidBy(found, payment)) return ctx.transact((tx) => findOrder(tx, orderId))
  const pending = { ...payment, payers: payersOf(found, party), since: ctx.clock.now() }
  const transfer = found.status === 'cancelled' ? undefined : await findTransfer(ctx, found, pending)

  return ctx.transact(async (tx) => {
    const locked = await lockOrder(tx, orderId)
    if (isPaidBy(locked, pending)) return locked
    if (locked.status === 'cancelled') return recordLatePayment(ctx, tx, locked, pending)
    const order: Order = await moveIfDue(ctx, tx, locked, ctx.clock.now())
    allow(order, 'pay')
    const contested = await releaseContested(tx, { ...payment, orderId, payers: party.wallets })
    if (contested !== undefined) return new CommitThenReject(contested)
    if (transfer === undefined) return awaitTransfer(ctx, tx, party, order, pending)
    return releaseDelivered(ctx, tx, await takePayment(ctx, tx, order, network, transfer, party.name))
  })
}

function findTransfer(
  ctx: Ctx,
  order: Order,
  pending: PendingPayment,
): Promise<IncomingTransfer | undefined> {
  allow(order, 'pay')
  return findPayment(ctx, pending.network, questionOf(order, order.price, pending))
}

/** The same for whoever finds the transfer: the buyer's own call, or the job that waited for it. */
export async function takePayment(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'quoted' | 'accepted'>,
  network: Network,
  seen: IncomingTransfer,
  actor: string,
  tell: (ctx: Needs<'clock'>, tx: Tx, order: Order<'paid'>) => Promise<unknown> = tellPaid,
): Promise<Order<'paid'>> {
  // The price may be another one than when the chain was asked.
  if (seen.amount < order.price) throw tooLittle(order.price)
  const now = ctx.clock.now()
  const paid = pay(order, { network, reference: seen.reference }, now)
  const { isNew } = await claimTransfer(ctx, tx, {
    network,
    seen,
    purpose: purposeOf(order),
    due: order.price,
  })
  assert(isNew, `${order.id} is not paid, and yet its transfer is claimed`)
  await giveSurplusBack(ctx, tx, order, network, seen)
  const saved = await saveOrder(tx, order, paid, { action: 'pay', role: 'buyer', actor, at: now })
  await countOrdered(tx, order.listingId)
  await countOrders(tx, order.agentId, { total: 1 })
  await tell(ctx, tx, saved)
  return saved
}

/** Naming a transfer accepts the price. A transfer named later replaces the one named before. */
async function awaitTransfer(
  ctx: Needs<'clock'>,
  tx: Tx,
  party: Party,
  order: Order<'quoted' | 'accepted'>,
  pending: PendingPayment,
): Promise<Order> {
  if (isAwaiting(order, pending)) return order
  const now = ctx.clock.now()
  rejectLateNaming(order, now)
  const waiting = accept(order, now, pending)
  if (order.status === 'quoted')
    return saveOrder(tx, order, waiting, { action: 'accept', role: 'buyer', actor: party.name, at: now })
  await savePending(tx, waiting, now)
  return waiting
}

const isAwaiting = (order: Order<'quoted' | 'accepted'>, { network, reference }: Payment): boolean =>
  order.status === 'accepted' && order.pending?.network === network && order.pending.reference === reference

/** The order was cancelled before its payment was named. The request is rejected, and the payment sweep refunds it. */
async function recordLatePayment(
  ctx: Needs<'clock'>,
  tx: Tx,
  order: Order<'cancelled'>,
  pending: PendingPayment,
): Promise<CommitThenReject> {
  if (order.pending === null && order.payment === undefined)
    await savePending(tx, { ...order, pending }, ctx.clock.now())
  return new CommitThenReject(illegalTransition(order, 'pay'))
}

const isPaidBy = (order: Order, { network, reference }: Payment): boolean =>
  'payment' in order && order.payment?.network === network && order.payment.reference === reference

/** Only the buyer's own wallets: otherwise anybody could present a stranger's transfer as theirs. */
function payersOf(order: Order, party: Party): string[] {
  const own = order.clientWallet === null ? party.wallets : [order.clientWallet, ...party.wallets]
  if (own.length > 0) return [...new Set(own)]
  throw new ApiError(
    'invalid',
    'Say which wallet paid: sign with it in this request, or link it to your account',
    { code: 'payer_unknown' },
  )
}

const tooLittle = (due: Usdc): ApiError =>
  new ApiError('invalid', `This transfer is less than what is due, which is ${formatUsd(due)} USDC`, {
    code: 'underpaid',
  })

/** A payment counts when one of the buyer's wallets made it after the order, and it is enough. */
export const questionOf = (
  order: Core,
  minAmount: Usdc,
  { reference, payers }: { readonly reference: string; readonly payers: readonly string[] },
) => ({ reference, minAmount, payers, notBefore: earliestPayment(order), notAfter: FOREVER })
