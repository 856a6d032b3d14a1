import { createHmac } from 'node:crypto'
import type { Market } from './market.ts'

/** The access token of an order that was bought by x402. */
export function accessTokenFor(market: Market, orderId: string): string {
  const { ACCESS_TOKEN_KEYS = '' } = market.environment as Readonly<Record<string, string>>
  const seal = createHmac('sha256', Buffer.from(ACCESS_TOKEN_KEYS, 'hex'))
    .update(`x402.order:${orderId}`)
    .digest()
  return seal.subarray(0, 16).toString('base64url')
}
