import { accessTokenFor } from './access-token.ts'
import { fundOrder } from './funded-orders.ts'
import type { Market } from './market.ts'
import { makeOrderIn } from './order-in-state.ts'
import type { makeService } from './services.ts'

/** An order paid by x402 and its access token. */
export async function makePurchasedOrder(market: Market, service: Awaited<ReturnType<typeof makeService>>) {
  const { id, buyer } = await makeOrderIn(market, service, 'completed')
  await fundOrder(market, id, buyer)
  await market.db.updateTable('orders').set({ payment_method: 'x402' }).where('id', '=', id).execute()
  return { id, accessToken: accessTokenFor(market, id) }
}
