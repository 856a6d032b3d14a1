import type { Client } from '@market/sdk/client'
import type { Me } from '../session/me.ts'
import { takeFrom } from './take.ts'

/** So much is exported. Orders beyond it have no deliveries and messages in the file: each one is two requests. */
export const EXPORTED = { orders: 1_000, ordersInFull: 100, notifications: 1_000, agents: 200, bounties: 500 }

/** What the API says about the viewer, as one text of JSON. */
export async function exportData(market: Client, me: Me, at: Date): Promise<string> {
  const page = { limit: 100 }
  const orders = await takeFrom(market.listOrders(page), EXPORTED.orders)
  const data = {
    exported_at: at.toISOString(),
    of: market.apiUrl,
    at_most: EXPORTED,
    account: { user: me.user, wallet: me.wallet, wallets: me.wallets },
    agents: (await takeFrom(market.listMyAgents(page), EXPORTED.agents)).items,
    bounties: (await takeFrom(market.listMyBounties(page), EXPORTED.bounties)).items,
    notifications: await notificationsOf(market, me),
    orders: orders.items,
    orders_in_full: [] as unknown[],
  }
  for (const { id } of orders.items.slice(0, EXPORTED.ordersInFull)) {
    const { deliveries, review, steps, refund } = await market.getOrder({ order_id: id })
    const messages = (await market.listMessages({ order_id: id, ...page })).data
    data.orders_in_full.push({ order_id: id, deliveries, review, steps, refund, messages })
  }
  return `${JSON.stringify(data, undefined, 2)}\n`
}

/** A user without an account has no inbox. */
const notificationsOf = async (market: Client, me: Me): Promise<readonly unknown[]> =>
  me.kind === 'user' && me.user === null
    ? []
    : (await takeFrom(market.listNotifications({ limit: 100 }), EXPORTED.notifications)).items
