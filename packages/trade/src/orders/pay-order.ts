import type { Needs } from '@market/core/context'
import type { SeenTransfer } from '@market/core/ports/chain'
import { type Tx, transact } from '@market/database/transact'
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
import { allow, allowRole } from './states.ts'
import { findOrder, lockOrder, saveOrder, savePending } from './store.ts'
import { giveSurplusBack } from './surplus.ts'

export interface PayOrder {
  readonly orderId: OrderId
  readonly network: Network
  /** A Solana signature or an EVM transaction hash, normalized. */
  readonly reference: string
}

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains'>

/**
 * The buyer names the transfer that paid. The chain is asked with no transaction open; what it said is acted on under
 * the order's lock, where the transfer's own key decides between any number of claims. A transfer that is not settled
 * enough yet makes the order `accepted`, and a job finishes it.
 */
export async function payOrder(ctx: Ctx, party: Party, named: PayOrder): Promise<Order> {
  const seen = await findOrder(ctx.db, named.orderId)
  allowRole(await roleIn(ctx.db, seen, party), 'pay')
  const payment = { network: named.network, reference: named.reference }
  if (isPaidBy(seen, payment)) return ctx.transact((tx) => findOrder(tx, named.orderId))
  const payers = payersOf(seen, party)
  const pending = { ...payment, payers, since: ctx.clock.now() }
  try {
    return await payNow(ctx, party, seen, pending)
  } catch (error) {
    if (isTooLate(error)) await noteLate(ctx, named.orderId, pending)
    throw error
  }
}

async function payNow(ctx: Ctx, party: Party, seen: Order, pending: PendingPayment): Promise<Order> {
  allow(seen, 'pay')
  const { network } = pending
  const transfer = await findPayment(ctx, network, questionOf(seen, seen.price, pending))
  if (transfer === undefined) return waitFor(ctx, party, seen.id, pending)
  return ctx.transact(async (tx) => {
    const found = await lockOrder(tx, seen.id)
    if (isPaidBy(found, pending)) return found
    const order: Order = await moveIfDue(ctx, tx, found, ctx.clock.now())
    allow(order, 'pay')
    return releaseDelivered(ctx, tx, await takePayment(ctx, tx, order, network, transfer, party.name))
  })
}

/** The same for whoever finds the transfer: the buyer's own call, or the job that waited for it. */
export async function takePayment(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order<'quoted' | 'accepted'>,
  network: Network,
  seen: SeenTransfer,
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

/** Naming a transfer is saying yes to the price; another one named later takes the place of the first. */
const waitFor = (
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  party: Party,
  orderId: OrderId,
  pending: PendingPayment,
): Promise<Order> =>
  ctx.transact(async (tx) => {
    const found = await lockOrder(tx, orderId)
    if (isPaidBy(found, pending)) return found
    const now = ctx.clock.now()
    const order: Order = await moveIfDue(ctx, tx, found, now)
    allow(order, 'pay')
    if (isAwaiting(order, pending)) return order
    rejectLateNaming(order, now)
    const waiting = accept(order, now, pending)
    if (order.status === 'quoted')
      return saveOrder(tx, order, waiting, { action: 'accept', role: 'buyer', actor: party.name, at: now })
    await savePending(tx, waiting, now)
    return waiting
  })

const isAwaiting = (order: Order<'quoted' | 'accepted'>, { network, reference }: Payment): boolean =>
  order.status === 'accepted' && order.pending?.network === network && order.pending.reference === reference

const isTooLate = (error: unknown): boolean =>
  error instanceof ApiError && error.extra.code === 'illegal_transition'

/**
 * The order was cancelled before its payment was named: what was paid all the same goes back by itself. This stays
 * although the call is rejected, so it has a transaction of its own.
 */
const noteLate = (ctx: Needs<'db' | 'clock'>, orderId: OrderId, pending: PendingPayment): Promise<void> =>
  transact(ctx.db, async (tx) => {
    const order = await lockOrder(tx, orderId)
    if (order.status !== 'cancelled' || order.pending !== null || order.payment !== undefined) return
    await savePending(tx, { ...order, pending }, ctx.clock.now())
  })

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
  atLeast: Usdc,
  { reference, payers }: { readonly reference: string; readonly payers: readonly string[] },
) => ({ reference, atLeast, payers, notBefore: earliestPayment(order), notAfter: FOREVER })
