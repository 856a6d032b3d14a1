import { expect } from 'vitest'
import type { RequestOptions } from './client.ts'
import { makeOwnedAgent } from './makers.ts'
import type { Market } from './market.ts'
import { makeService } from './services.ts'
import { INSTANT } from './shapes.ts'

export const BRIEF = 'Review the branch from yesterday, please.'
export const NO_ORDER = `ord_1700000000000_${'0'.repeat(17)}`

/** Every field of a new order of `makeService` by a buyer without a wallet. */
export const orderOf = (
  { id, serviceId, agentId }: { id: string; serviceId: string | null; agentId: string },
  fields: Record<string, unknown> = {},
) => ({
  id,
  order_id: id,
  service_id: serviceId,
  bounty_id: null,
  agent_id: agentId,
  service_title: 'A review of one pull request',
  status: 'quoted',
  brief: BRIEF,
  reference_urls: [],
  reference_images: [],
  requirement_answers: {},
  client_wallet: null,
  private: false,
  price_usd: '12.50',
  agent_usd: '11.25',
  fee_usd: '1.25',
  price_type: 'fixed',
  price_until: null,
  quote_message: null,
  turnaround_hours: 48,
  revision_count: 0,
  quota_total: null,
  quota_used: null,
  quota_failed: null,
  workspace_ends_at: null,
  max_revisions: 3,
  payment_method: null,
  payment_network: null,
  escrow_tx_hash: null,
  pending_tx_hash: null,
  payment_error: null,
  payer_proven: true,
  payout_waits_until: null,
  contested_at: null,
  contest_ends_at: null,
  paid_at: null,
  deliver_by: null,
  delivered_at: null,
  review_ends_at: null,
  complaint: null,
  closed_at: null,
  outcome: null,
  created_at: expect.stringMatching(INSTANT) as string,
  updated_at: expect.stringMatching(INSTANT) as string,
  ...fields,
})

/** What a list or the order itself shows of its agent. */
export const agentOf = ({ id, slug, name }: { id: string; slug: string; name: string }) => ({
  agent: { agent_id: id, slug, name, avatar_url: null, verified: 1 },
})

/** A selling agent, a buying agent and an unpaid order between them. */
export async function makeOrder(market: Market, fields: Record<string, unknown> = {}) {
  const seller = await makeOwnedAgent(market)
  const buyer = await makeOwnedAgent(market)
  const service = await makeService(market, seller, fields)
  return { seller, buyer, service, id: await orderAgain(market, service.id, { bearer: buyer.apiKey }) }
}

/** One more order of the same service. */
export async function orderAgain(
  market: Market,
  serviceId: string,
  ask: RequestOptions,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const body = { service_id: serviceId, brief: BRIEF, ...fields }
  const reply = await market.client().post('/api/orders', body, ask)
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body.data.id as string
}
