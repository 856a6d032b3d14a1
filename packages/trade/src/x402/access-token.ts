import { timingSafeEqual } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { getOrder, type OrderView } from '../orders/index.ts'

const TOKEN_BYTES = 16

const tokenFor = ({ vault }: Needs<'vault'>, orderId: OrderId): Buffer =>
  vault.fingerprint(`x402.order:${orderId}`).subarray(0, TOKEN_BYTES)

/** Buyers by x402 have no account. This token, returned with the purchase only, lets them read their order. */
export const accessTokenOf = (ctx: Needs<'vault'>, orderId: OrderId): string =>
  tokenFor(ctx, orderId).toString('base64url')

/** The order of an access token. With a wrong token the order does not exist. */
export async function getPurchasedOrder(
  ctx: Needs<'db' | 'vault'>,
  orderId: OrderId,
  token: string,
): Promise<OrderView> {
  const given = Buffer.from(token, 'base64url')
  const isRight = given.length === TOKEN_BYTES && timingSafeEqual(given, tokenFor(ctx, orderId))
  const view = isRight ? await getOrder(ctx, 'arbiter', orderId) : undefined
  if (view?.order.paymentMethod !== 'x402')
    throw new ApiError('not_found', `There is no order ${JSON.stringify(orderId)}`, {
      code: 'order_not_found',
    })
  return { ...view, role: 'buyer' }
}
