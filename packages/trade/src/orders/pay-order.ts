import { type Actor, type Needs, nameOf, ownerWallets, provenWallets } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import { CommitThenReject, type Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { FOREVER } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import {
  ANY_AMOUNT,
  cancelIntent,
  claimTransfer,
  findPayment,
  isAwaited,
  openIntent,
  type Submission,
} from '@market/money/payments'
import { countOrdered } from '../listings/index.ts'
import { accept, pay, rejectExpiredPrice } from './changes.ts'
import { applyDueTransition, restoreDelivery } from './deadlines.ts'
import { emitOrderPaid } from './events.ts'
import { type Core, type Order, type Payment, purposeOf } from './order.ts'
import { refundSurplus } from './order-money.ts'
import { roleIn } from './order-role.ts'
import { networkProblem } from './payable-networks.ts'
import { policyOf } from './policy.ts'
import { illegalTransition, requireRole } from './states.ts'
import { findOrder, lockOrder, saveOrder, savePending } from './store.ts'

export interface PayOrder {
  readonly orderId: OrderId
  readonly network: Network
  /** A Solana signature or an EVM transaction hash, normalized. */
  readonly reference: string
}

/**
 * Releases the transfer when another purchase was paid with it although one of the buyer's wallets made it. An error
 * means that it could not be released and is refunded. The module that binds payments to payers implements it.
 */
export type ReleaseContested = (
  tx: Tx,
  payment: Payment & {
    /** The transfer that pays the order; undefined when none was found. */
    readonly index: number | undefined
    readonly orderId: OrderId
    readonly payers: readonly string[]
  },
) => Promise<'unchanged' | 'released' | ApiError>

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains'>

/**
 * Pays an order with a transfer that the buyer already made.
 *
 * The chain is queried before the transaction starts, because it can be slow. The result is checked again under the
 * order's lock; the unique key of the transfer decides when several requests use the same one. A transfer without enough
 * confirmations moves the order to `accepted`, and a payment intent completes it later.
 */
export async function payOrder(
  ctx: Ctx,
  actor: Actor,
  { orderId, network, reference }: PayOrder,
  releaseContested: ReleaseContested,
): Promise<Order> {
  const found = await findOrder(ctx.db, orderId)
  requireRole(await roleIn(ctx.db, found, actor), 'pay')
  const payment = { network, reference }
  if (isPaidBy(found, payment)) return ctx.transact((tx) => findOrder(tx, orderId))
  const named = { ...payment, payers: payersOf(found, actor) }
  const transfer = await findTransfer(ctx, found, named)

  return ctx.transact(async (tx) => {
    const locked = await lockOrder(tx, orderId)
    if (isPaidBy(locked, named)) return locked
    // Before anything else: whatever becomes of this order, another one must not be paid out with the buyer's transfer.
    const index = transfer instanceof ApiError ? undefined : transfer?.index
    const contest = await releaseContested(tx, { ...payment, index, orderId, payers: provenWallets(actor) })
    if (contest instanceof ApiError) return new CommitThenReject(contest)
    const reject = (error: ApiError): CommitThenReject => {
      if (contest === 'released') return new CommitThenReject(error)
      throw error
    }
    if (locked.status === 'cancelled') return recordLatePayment(ctx, tx, locked, named)
    const order: Order = await applyDueTransition(ctx, tx, locked, ctx.clock.now())
    if (order.status !== 'quoted' && order.status !== 'accepted')
      return reject(illegalTransition(order, 'pay'))
    const problem = isAwaiting(order, named) ? undefined : await networkProblem(ctx, tx, order, named)
    if (problem !== undefined) return reject(problem)
    if (await isOwnersPayment(tx, actor, order, named, transfer)) return reject(ownersPayment())
    if (transfer instanceof ApiError) return reject(transfer)
    if (transfer === undefined) return awaitTransfer(ctx, tx, actor, order, named)
    if (transfer.amount < order.price) return reject(underpaid(order.price, transfer.amount))
    if (order.status === 'accepted' && order.pending !== null) await cancelIntent(tx, purposeOf(order))
    return restoreDelivery(ctx, tx, await confirmPayment(ctx, tx, order, network, transfer, nameOf(actor)))
  })
}

/** A transfer that the buyer names, and the wallets that may have made it. */
export interface NamedTransfer extends Payment {
  readonly payers: readonly string[]
}

/** The transfer, undefined while it is not confirmed or the order takes none, or why it cannot pay the order. */
async function findTransfer(
  ctx: Ctx,
  order: Order,
  named: NamedTransfer,
): Promise<IncomingTransfer | undefined | ApiError> {
  if (order.status !== 'quoted' && order.status !== 'accepted') return undefined
  try {
    return await findPayment(ctx, named.network, {
      reference: named.reference,
      minAmount: order.price,
      payers: named.payers,
      notBefore: policyOf(order).earliestPayment(order.createdAt),
      notAfter: FOREVER,
    })
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Used by the buyer's request and by the payment intent. */
export async function confirmPayment(
  ctx: Needs<'clock' | 'ids'>,
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
  const paid = pay(order, { network, reference: transfer.reference }, now)
  const { isNew } = await claimTransfer(ctx, tx, {
    network,
    seen: transfer,
    purpose: purposeOf(order),
    due: order.price,
  })
  assert(isNew, `${order.id} is unpaid, so its transfer was not claimed before`)
  await refundSurplus(ctx, tx, order, network, transfer)
  const saved = await saveOrder(tx, order, paid, { action: 'pay', role: 'buyer', actor, at: now })
  await countOrdered(tx, order.listingId)
  await countOrders(tx, order.agentId, { total: 1 })
  await emitPaid(ctx, tx, saved)
  return saved
}

/** Naming a transfer accepts the price. A transfer named later replaces the one named before. */
async function awaitTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  actor: Actor,
  order: Order<'quoted' | 'accepted'>,
  named: NamedTransfer,
): Promise<Order> {
  if (isAwaiting(order, named)) return order
  const now = ctx.clock.now()
  rejectExpiredPrice(order, now)
  const { network, reference } = named
  const waiting = accept(order, now, { network, reference })
  await openOrderIntent(ctx, tx, order, named)
  if (order.status === 'quoted')
    return saveOrder(tx, order, waiting, { action: 'accept', role: 'buyer', actor: nameOf(actor), at: now })
  await savePending(tx, waiting, now)
  return waiting
}

const isAwaiting = (order: Order<'quoted' | 'accepted'>, { network, reference }: Payment): boolean =>
  order.status === 'accepted' && order.pending?.network === network && order.pending.reference === reference

/** The order was cancelled before its payment was named. The request is rejected, and the transfer is refunded when it comes. */
async function recordLatePayment(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'cancelled'>,
  named: NamedTransfer,
): Promise<CommitThenReject> {
  if (order.pending === null && order.payment === undefined) {
    const { network, reference } = named
    await openOrderIntent(ctx, tx, order, named)
    await savePending(tx, { ...order, pending: { network, reference } }, ctx.clock.now())
  }
  return new CommitThenReject(illegalTransition(order, 'pay'))
}

/** Opens the payment intent of an order. `submission` is the signed payment to observe, if there is one. */
export async function openOrderIntent(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Core & { readonly price?: Usdc | undefined },
  { network, reference, payers }: NamedTransfer,
  submission?: Submission,
): Promise<void> {
  await openIntent(ctx, tx, {
    purpose: purposeOf(order),
    network,
    reference,
    payers,
    due: order.price ?? ANY_AMOUNT,
    notBefore: policyOf(order).earliestPayment(order.createdAt),
    submission: submission ?? null,
  })
}

const isPaidBy = (order: Order, { network, reference }: Payment): boolean =>
  'payment' in order && order.payment?.network === network && order.payment.reference === reference

/** Only the buyer's own wallets count. Otherwise anyone could use another user's transfer. */
function payersOf(order: Order, actor: Actor): string[] {
  const named = order.clientWallet === null ? [] : [order.clientWallet]
  const own = [...named, ...provenWallets(actor), ...ownerWallets(actor)]
  if (own.length > 0) return [...new Set(own)]
  throw new ApiError(
    'invalid',
    'The paying wallet is unknown. Sign this request with it, or link it to your account.',
    { code: 'payer_unknown' },
  )
}

/** An API key can pay from its owner's wallets, but not with a transfer that was named for another order of the owner. */
async function isOwnersPayment(
  tx: Tx,
  actor: Actor,
  order: Core,
  { network, reference }: Payment,
  transfer: IncomingTransfer | ApiError | undefined,
): Promise<boolean> {
  const payer = transfer === undefined || transfer instanceof ApiError ? undefined : transfer.payer
  const unsigned = ownerWallets(actor).filter((key) => payer === undefined || key === payer)
  for (const key of unsigned)
    if (await isAwaited(tx, { network, reference, payer: key }, purposeOf(order))) return true
  return false
}

const ownersPayment = (): ApiError =>
  new ApiError(
    'conflict',
    'Another order waits for this transfer. Make another transfer, or sign this request with the wallet that paid.',
    { code: 'transfer_used' },
  )

const underpaid = (due: Usdc, paid: Usdc): ApiError =>
  new ApiError('invalid', `The transfer is ${formatUsd(paid)} USDC but ${formatUsd(due)} USDC is due.`, {
    code: 'underpaid',
  })
