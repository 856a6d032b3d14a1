import type { Actor, Needs } from '@market/core/context'
import { isSellersWallet } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import {
  checkPurpose,
  paySigned,
  pollUntil,
  type ReadPayment,
  signedPaymentUsed,
} from '@market/money/payments'
import { ownService, placeOrder, prepareOrder, type WantedOrder } from '../create-order.ts'
import { applyDueTransition } from '../deadlines.ts'
import { type Order, purposeOf } from '../order.ts'
import { buyerOf, roleIn } from '../order-role.ts'
import { illegalTransition, requireRole } from '../states.ts'
import { findOrder, lockOrder } from '../store.ts'
import { orderPayment, orderPurpose, rejectWhilePaymentComes } from './order-purpose.ts'
import { isUnpaid, requireNetwork } from './payable-networks.ts'

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains'>

/** Pays an order with a payment that a wallet signed. The wallet proves itself by that, so it need not be the buyer's. */
export async function payOrderSigned(
  ctx: Ctx,
  actor: Actor,
  orderId: OrderId,
  signed: ReadPayment,
): Promise<Order> {
  const found = await findOrder(ctx.db, orderId)
  requireRole(await roleIn(ctx.db, found, actor), 'pay')
  return paySigned(ctx, orderPurpose, {
    actor,
    signed,
    target: async () => requireUnpaid(found),
    async lock(tx) {
      const locked = await lockOrder(tx, orderId)
      const order = requireUnpaid(await applyDueTransition(ctx, tx, locked, ctx.clock.now()))
      await rejectWhilePaymentComes(tx, order)
      await requireNetwork(ctx, tx, order, signed.facilitator.network)
      return order
    },
    async again(tx, { purpose }) {
      if (purpose.id !== orderId) throw signedPaymentUsed()
      const order = await lockOrder(tx, orderId)
      if (order.status === 'cancelled') throw illegalTransition(order, 'pay')
      return order
    },
    checkPayer: (payer) => rejectSeller(ctx, payer, found),
  })
}

/** Creates an order with its payment. Nothing is created when the payment cannot be used. */
export const createOrderSigned = (
  ctx: Ctx & Needs<'minPrice'>,
  actor: Actor,
  wanted: WantedOrder,
  signed: ReadPayment,
  keyHint?: string,
): Promise<Order> => {
  const { network } = signed.facilitator
  return paySigned<'order', Order>(ctx, orderPurpose, {
    actor,
    signed,
    target: async () => requirePrice(await prepareOrder(ctx, ctx.db, actor, wanted)),
    async lock(tx) {
      const order = requirePrice(await placeOrder(ctx, tx, actor, wanted, keyHint))
      await requireNetwork(ctx, tx, order, network)
      return order
    },
    async again(tx, { purpose }) {
      const order = purpose.kind === 'order' ? await lockOrder(tx, purpose.id as OrderId) : undefined
      if (order === undefined || !isSameRequest(order, actor, wanted)) throw signedPaymentUsed()
      return order
    },
    checkPayer: async (payer) => rejectSeller(ctx, payer, await prepareOrder(ctx, ctx.db, actor, wanted)),
  })
}

/** Waits for the payment of an order that was submitted. Returns the order as it is then. */
export async function awaitSubmitted(
  ctx: Parameters<typeof checkPurpose>[0] & Needs<'resultWaitMs'>,
  order: Order,
): Promise<Order> {
  await pollUntil(ctx, async () =>
    (await checkPurpose(ctx, purposeOf(order), orderPayment)) === undefined ? true : undefined,
  )
  const now = await findOrder(ctx.db, order.id)
  if (now.status === 'accepted' && now.pending === null) throw paymentVoid(now)
  return now
}

const paymentVoid = ({ id, paymentError }: Order<'accepted'>): ApiError =>
  new ApiError(
    'invalid',
    `Order ${id} is not paid. ${paymentError ?? 'The signed payment did not take effect.'} Pay it with \`action\`: \`pay\` and a new payment.`,
    { code: 'payment_void', fields: { order_id: id } },
  )

function requireUnpaid(order: Order): Order {
  if (!isUnpaid(order)) throw illegalTransition(order, 'pay')
  return order
}

function requirePrice(order: Order): Order {
  if (order.status === 'quoted') return order
  throw new ApiError(
    'invalid',
    'This service has no listed price, so its order cannot be paid at once. Create the order without signed_payment, and pay when the agent has quoted.',
    { code: 'no_listed_price', details: [{ path: 'signed_payment', message: 'needs a listed price' }] },
  )
}

async function rejectSeller({ db }: Needs<'db'>, payer: string, { agentId }: Order): Promise<void> {
  if (await isSellersWallet(db, payer, agentId)) throw ownService()
}

/** A repeated request leads to the order that the payment created. */
const isSameRequest = (order: Order, actor: Actor, wanted: WantedOrder): boolean =>
  order.buyer === buyerOf(actor) &&
  order.listingId === wanted.listingId &&
  order.brief === wanted.brief &&
  order.isPrivate === wanted.isPrivate &&
  sameJson(order.referenceUrls, wanted.referenceUrls) &&
  sameJson(order.referenceImages, wanted.referenceImages) &&
  sameJson(sorted(order.requirementAnswers), sorted(wanted.requirementAnswers))

const sorted = (answers: Readonly<Record<string, unknown>>) =>
  Object.entries(answers).toSorted(([a], [b]) => (a < b ? -1 : 1))

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
