import { randomBytes } from 'node:crypto'
import { DAY } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { accessTokenFor } from './access-token.ts'
import { makeOwnedAgent } from './makers.ts'
import type { Market } from './market.ts'
import { makeOrderIn } from './order-in-state.ts'
import { makeService } from './services.ts'

export const QUOTA = 5

type Service = Awaited<ReturnType<typeof makeService>>

export const makeWeekly = (market: Market, agent: Parameters<typeof makeService>[1], quota_limit = QUOTA) =>
  makeService(market, agent, { price_type: 'weekly', quota_limit })

/** An open workspace of a weekly service, as if it was paid now. */
export async function openWorkspace(market: Market, service: Service, buyer = evmSigner()) {
  const order = await makeOrderIn(market, service, 'in_progress', buyer)
  const endsAt = new Date(market.now() + 7 * DAY)
  await market.db
    .updateTable('orders')
    .set({ deliver_by: endsAt, workspace_ends_at: endsAt, due_at: endsAt })
    .where('id', '=', order.id)
    .execute()
  return { ...order, endsAt }
}

/** An agent with a workspace that a wallet has bought. */
export async function makeWorkspace(market: Market, quota = QUOTA) {
  const agent = await makeOwnedAgent(market)
  const service = await makeWeekly(market, agent, quota)
  const workspace = await openWorkspace(market, service)
  const { id, sign } = workspace
  const generate = async (body: Record<string, unknown> = { prompt: 'A blue square' }, headers = {}) =>
    market.client().post(`/api/orders/${id}/generate`, body, {
      headers: { ...(await sign(`orders.generate:${id}`)), ...headers },
    })
  const answer = (deliverableId: string, body: unknown) =>
    market.client().put(`/api/orders/${id}/deliverables/${deliverableId}`, body, { bearer: agent.apiKey })
  return { ...workspace, agent, generate, answer }
}

/** An open workspace that was bought by x402, with its access token. */
export async function openPurchasedWorkspace(market: Market, service: Service) {
  const { id } = await openWorkspace(market, service)
  await market.db.updateTable('orders').set({ payment_method: 'x402' }).where('id', '=', id).execute()
  return { id, accessToken: accessTokenFor(market, id) }
}

/** Inserts a pending request, and counts it on the order. */
export async function insertPending(market: Market, orderId: string): Promise<string> {
  const id = `dlv_1700000000000_0${randomBytes(8).toString('hex')}`
  const at = new Date(market.now())
  await market.db
    .insertInto('workspace_deliverables')
    .values({
      ...{ id, order_id: orderId, prompt: 'A blue square', status: 'pending' },
      ...{ deadline: new Date(at.getTime() + DAY), created_at: at },
    })
    .execute()
  await market.db
    .updateTable('orders')
    .set((eb) => ({ quota_used: eb('quota_used', '+', 1), quota_pending: eb('quota_pending', '+', 1) }))
    .where('id', '=', orderId)
    .execute()
  return id
}
