import { timingSafeEqual } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { DAY, later } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import {
  getOrderAsBuyer,
  getReceiptAsBuyer,
  type Order,
  type OrderView,
  type ReceiptView,
} from '../orders/index.ts'

const TOKEN_BYTES = 16
/** How long after the end of its order an access token is valid. */
const VALID_AFTER_END_MS = 30 * DAY

const textOf = (orderId: OrderId): string => `x402.order:${orderId}`

/** Buyers by x402 have no account. This token, returned with the purchase only, lets them read their order. */
export const accessTokenOf = (ctx: Needs<'vault'>, orderId: OrderId): string =>
  ctx.vault.fingerprint('access_token', textOf(orderId)).toString('base64url', 0, TOKEN_BYTES)

/** Whether the token is the order's, under any key that is still accepted. */
export function isAccessToken({ vault }: Needs<'vault'>, orderId: OrderId, token: string): boolean {
  const given = Buffer.from(token, 'base64url')
  if (given.length !== TOKEN_BYTES) return false
  const hashes = vault.fingerprints('access_token', textOf(orderId))
  return hashes.some((hash) => timingSafeEqual(given, hash.subarray(0, TOKEN_BYTES)))
}

/** The order of an access token. With a wrong or expired token the order does not exist. */
export async function getPurchasedOrder(
  ctx: Needs<'db' | 'clock' | 'vault'>,
  orderId: OrderId,
  token: string,
): Promise<OrderView> {
  if (!isAccessToken(ctx, orderId, token)) throw purchaseNotFound(orderId)
  const view = await getOrderAsBuyer(ctx, orderId)
  requireAccessToken(ctx, view.order, token)
  return view
}

/** The receipt of the order of an access token, for as long as the token is valid. */
export async function getPurchasedReceipt(
  ctx: Needs<'db' | 'clock' | 'vault'>,
  orderId: OrderId,
  token: string,
): Promise<ReceiptView> {
  const { order } = await getPurchasedOrder(ctx, orderId, token)
  return getReceiptAsBuyer(ctx, order.id)
}

/** Rejects a token that is not this order's, or that has expired. */
export function requireAccessToken(ctx: Needs<'clock' | 'vault'>, order: Order, token: string): void {
  if (order.paymentMethod !== 'x402' || !isAccessToken(ctx, order.id, token)) throw purchaseNotFound(order.id)
  if (isExpired(order, ctx.clock.now()))
    throw new ApiError(
      'not_found',
      'This link expired 30 days after the order ended. The wallet that paid reads it with GET /api/orders/{order_id}.',
      { code: 'access_token_expired' },
    )
}

const purchaseNotFound = (orderId: OrderId): ApiError =>
  new ApiError('not_found', `There is no order ${JSON.stringify(orderId)}`, { code: 'order_not_found' })

const isExpired = (order: Order, now: Date): boolean =>
  (order.status === 'completed' || order.status === 'cancelled') &&
  later(order.closedAt, VALID_AFTER_END_MS) <= now
