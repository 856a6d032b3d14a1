import { createHmac } from 'node:crypto'
import type { Market } from './market.ts'
import { makeOrderIn } from './order-in-state.ts'
import type { makeService } from './services.ts'

/** An order paid by x402 and its access token. */
export async function makePurchasedOrder(market: Market, service: Awaited<ReturnType<typeof makeService>>) {
  const { id } = await makeOrderIn(market, service, 'completed')
  await market.db.updateTable('orders').set({ payment_method: 'x402' }).where('id', '=', id).execute()
  const { ACCESS_TOKEN_KEYS = '' } = market.environment as Readonly<Record<string, string>>
  const seal = createHmac('sha256', Buffer.from(ACCESS_TOKEN_KEYS, 'hex')).update(`x402.order:${id}`).digest()
  return { id, accessToken: seal.subarray(0, 16).toString('base64url') }
}
