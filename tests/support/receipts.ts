import type { Market } from './market.ts'

/** The payment of the order is final, as a worker finds when the chain says so. */
export const finalPayment = (market: Market, orderId: string) =>
  market.db
    .updateTable('transfers')
    .set({ state: 'final' })
    .where('purpose', '=', `order:${orderId}`)
    .execute()

/** The published keys of receipts. */
export async function keysOf(market: Market) {
  const response = await fetch(`${market.url}/.well-known/jwks.json`)
  const { keys } = (await response.json()) as { keys: readonly Readonly<Record<string, unknown>>[] }
  return { response, keys }
}
