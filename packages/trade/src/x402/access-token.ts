import { timingSafeEqual } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { getOrder, type OrderView } from '../orders/index.ts'

const TOKEN_BYTES = 16

const tokenFor = ({ vault }: Needs<'vault'>, orderId: OrderId): Buffer =>
  vault.fingerprint(`x402.order:${orderId}`).subarray(0, TOKEN_BYTES)

/** Who purchases by a request has no account: this word, which only they are given, lets them read their order. */
export const accessTokenOf = (ctx: Needs<'vault'>, orderId: OrderId): string =>
  tokenFor(ctx, orderId).toString('base64url')

/** The order of whoever shows its word. To anybody else it does not exist, as to any stranger. */
export async function readHired(
  ctx: Needs<'db' | 'vault'>,
  orderId: OrderId,
  token: string,
): Promise<OrderView> {
  const shown = Buffer.from(token, 'base64url')
  const isRight = shown.length === TOKEN_BYTES && timingSafeEqual(shown, tokenFor(ctx, orderId))
  const view = isRight ? await getOrder(ctx, 'arbiter', orderId) : undefined
  if (view?.order.paymentMethod !== 'x402')
    throw new ApiError('not_found', `There is no order ${JSON.stringify(orderId)}`, {
      code: 'order_not_found',
    })
  return { ...view, role: 'buyer' }
}
