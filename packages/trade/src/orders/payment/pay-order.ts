import { type Actor, type Needs, nameOf, ownerWallets, payerWallets } from '@market/core/context'
import { lockBuyerEvents } from '@market/core/events'
import type { Depth, IncomingTransfer } from '@market/core/ports/chain'
import { isProvenOn } from '@market/core/ports/signatures'
import { CommitThenReject, type Tx } from '@market/database/transact'
import { countOrders } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { FOREVER } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import {
  cancelIntent,
  claimTransfer,
  findPayment,
  findTransferFor,
  isAwaited,
  type Purpose,
} from '@market/money/payments'
import { countOrdered } from '@market/offers/listings'
import { accept, pay, rejectExpiredPrice } from '../changes.ts'
import { applyDueTransition, continuePaid } from '../deadlines.ts'
import { emitOrderPaid } from '../events.ts'
import { notifyBuyer } from '../notifications.ts'
import { type Buyer, type Core, type Order, type Payment, payoutWait, purposeOf } from '../order.ts'
import { roleIn } from '../order-role.ts'
import { policyOf } from '../policy.ts'
import { illegalTransition, requireRole, TRANSITIONS } from '../states.ts'
import { findOrder, lockOrder, saveFields, saveOrder } from '../store.ts'
import { confirmPayer } from './contest-order.ts'
import { type NamedTransfer, openOrderIntent } from './order-intent.ts'
import { refundSurplus } from './order-money.ts'
import { networkProblem } from './payable-networks.ts'

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
    /** The order to be paid; absent when the transfer is to pay for something else. */
    readonly orderId?: OrderId
    readonly buyer: Buyer
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
  if (isPaidBy(found, payment))
    return ctx.transact(async (tx) => confirmIfProven(ctx, tx, await lockOrder(tx, orderId), actor))
  let depth: Depth | null = null
  const payers = payersOf(found, actor, network)
  const transfer = await findTransfer(ctx, found, { ...payment, payers }, async (now) => {
    depth = now
  })
  const named = { ...payment, payers, depth }

  return ctx.transact(async (tx) => {
    const locked = await lockOrder(tx, orderId)
    if (isPaidBy(locked, named)) return confirmIfProven(ctx, tx, locked, actor)
    // Before anything else: whatever becomes of this order, another one must not be paid out with the buyer's transfer.
    const index = transfer instanceof ApiError ? undefined : transfer?.index
    const contest = await releaseContested(tx, {
      ...payment,
      index,
      orderId,
      buyer: locked.buyer,
      payers: payerWallets(actor, network),
    })
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
    if (await isOwnersPayment(tx, actor, purposeOf(order), named, transfer)) return reject(ownersPayment())
    if (transfer instanceof ApiError) return reject(transfer)
    if (transfer === undefined) return awaitTransfer(ctx, tx, actor, order, named)
    if (transfer.amount < order.price) return reject(underpaid(order.price, transfer.amount))
    if (order.status === 'accepted' && order.pending !== null) await cancelIntent(tx, purposeOf(order))
    const isProven = provenPayers(order, actor, network).includes(transfer.payer ?? '')
    // fix: owner-not-proven
    const payable = { ...order, payerProven: order.payerProven && isProven }
    return continuePaid(ctx, tx, await confirmPayment(ctx, tx, payable, network, transfer, nameOf(actor)))
  })
}

/** The order was paid from a wallet that had not signed, and now that wallet names the transfer again. */
async function confirmIfProven(ctx: Ctx, tx: Tx, order: Order, actor: Actor): Promise<Order> {
  if (order.payerProven || !('confirm_payer' in TRANSITIONS[order.status])) return order
  const transfer = await findTransferFor(tx, purposeOf(order))
  const payer = transfer && payerWallets(actor, transfer.network).find((key) => key === transfer.payer)
  if (payer === undefined) return order
  await confirmPayer(ctx, tx, order.id, `wallet:${payer}`)
  return findOrder(tx, order.id)
}

/** The transfer, undefined while it is not confirmed or the order takes none, or why it cannot pay the order. */
async function findTransfer(
  ctx: Ctx,
  order: Order,
  { network, reference, payers }: NamedTransfer,
  onDepth: (depth: Depth | null) => Promise<void>,
): Promise<IncomingTransfer | undefined | ApiError> {
  if (order.status !== 'quoted' && order.status !== 'accepted') return undefined
  const query = {
    ...{ reference, payers, minAmount: order.price, notAfter: FOREVER },
    notBefore: policyOf(order).earliestPayment(order.createdAt),
  }
  try {
    return await findPayment(ctx, network, query, onDepth)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Used by the buyer's request and by the payment intent. */
export async function confirmPayment(
  ctx: Needs<'clock' | 'ids' | 'chains'>,
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
  const payerProven = order.payerProven || isClientWallet(order, network, transfer)
  const paid = pay({ ...order, payerProven }, { network, reference: transfer.reference }, now)
  await lockBuyerEvents(tx, order.buyer)
  const { isNew } = await claimTransfer(ctx, tx, {
    network,
    seen: transfer,
    purpose: purposeOf(order),
    due: order.price,
  })
  assert(isNew, `${order.id} is unpaid, so its transfer was not claimed before`)
  await refundSurplus(ctx, tx, order, network, transfer)
  const saved = await saveOrder(tx, order, paid, { action: 'pay', role: 'buyer', actor, at: now })
  if (order.listingId !== null) await countOrdered(tx, order.listingId)
  await countOrders(tx, order.agentId, { total: 1 })
  await emitPaid(ctx, tx, saved)
  if (!payerProven && order.paymentMethod !== 'x402') await notifyOwnerOfPayer(ctx, tx, saved)
  return saved
}

/** The wallet that an ordinary order names has signed for it. That of a purchase is only the wallet that paid. */
const isClientWallet = (order: Core, network: Network, { payer }: IncomingTransfer): boolean =>
  order.paymentMethod === null && clientOn(order, network).some((key) => key === payer)

const notifyOwnerOfPayer = (ctx: Needs<'clock' | 'ids'>, tx: Tx, order: Order<'paid'>): Promise<void> =>
  notifyBuyer(ctx, tx, order, {
    kind: 'order.paid_from_owner_wallet',
    title: `Your agent paid for “${order.title}” with a transfer of your wallet`,
    body: `The wallet did not sign, so the seller is paid after ${payoutWait(order)?.toISOString()} at the earliest. If you made the transfer for something else, name it there: your own order or your signature takes it back.`,
  })

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
  // Whose transfer it is shows only when it is confirmed. Until then it counts as the owner's, who has not signed.
  const payerProven = order.payerProven && ownerWallets(actor, named.network).length === 0
  const waiting = { ...accept(order, now, { network, reference }), payerProven }
  await openOrderIntent(ctx, tx, order, named)
  if (order.status === 'quoted')
    return saveOrder(tx, order, waiting, { action: 'accept', role: 'buyer', actor: nameOf(actor), at: now })
  await saveFields(tx, waiting, now)
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
    await saveFields(tx, { ...order, pending: { network, reference } }, ctx.clock.now())
  }
  return new CommitThenReject(illegalTransition(order, 'pay'))
}

const isPaidBy = (order: Order, { network, reference }: Payment): boolean =>
  'payment' in order && order.payment?.network === network && order.payment.reference === reference

const provenPayers = (order: Core, actor: Actor, network: Network): readonly string[] => [
  ...clientOn(order, network),
  ...payerWallets(actor, network),
]

/** Only the buyer's own wallets count. Otherwise anyone could use another user's transfer. */
function payersOf(order: Order, actor: Actor, network: Network): string[] {
  const own = [...provenPayers(order, actor, network), ...ownerWallets(actor, network)]
  if (own.length > 0) return [...new Set(own)]
  throw new ApiError(
    'invalid',
    `No wallet of yours is proven on ${network}. Sign this request with the wallet that paid, or link it to your account. A smart wallet counts only on the network on which its contract signed.`,
    { code: 'payer_unknown' },
  )
}

function clientOn({ clientWallet, clientProvenBy }: Core, network: Network): string[] {
  if (clientWallet === null) return []
  const wallet = { key: clientWallet, ...(clientProvenBy !== null && { provenBy: clientProvenBy }) }
  return isProvenOn(wallet, network) ? [clientWallet] : []
}

/** An API key can pay from its owner's wallets, but not with a transfer that was named for another order of the owner. */
export async function isOwnersPayment(
  tx: Tx,
  actor: Actor,
  /** What the transfer was named for, when it was. */
  purpose: Purpose | undefined,
  { network, reference }: Payment,
  transfer: IncomingTransfer | ApiError | undefined,
): Promise<boolean> {
  const payer = transfer === undefined || transfer instanceof ApiError ? undefined : transfer.payer
  const unsigned = ownerWallets(actor, network).filter((key) => payer === undefined || key === payer)
  for (const key of unsigned)
    if (await isAwaited(tx, { network, reference, payer: key }, purpose)) return true
  return false
}

export const ownersPayment = (): ApiError =>
  new ApiError(
    'conflict',
    'Another order waits for this transfer. Make another transfer, or sign this request with the wallet that paid.',
    { code: 'transfer_used' },
  )

const underpaid = (due: Usdc, paid: Usdc): ApiError =>
  new ApiError('invalid', `The transfer is ${formatUsd(paid)} USDC but ${formatUsd(due)} USDC is due.`, {
    code: 'underpaid',
  })
