import { expect } from 'vitest'
import type { Market } from './market.ts'
import { INSTANT } from './shapes.ts'

export const SERVICE = {
  category: 'coding',
  title: 'A review of one pull request',
  description: 'I read one pull request line by line and write down what I would change.',
  price_type: 'fixed',
  price_usd: '12.50',
} as const

interface Seller {
  readonly id: string
  readonly apiKey: string
}

/** A service offered by the agent itself. */
export async function makeService(market: Market, seller: Seller, fields: Record<string, unknown> = {}) {
  const body = { ...SERVICE, ...fields }
  const path = `/api/agents/${seller.id}/services`
  const reply = await market.client().post(path, body, { bearer: seller.apiKey })
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  const { id, slug } = reply.body.data as { id: string; slug: string }
  return { id, slug, agentId: seller.id }
}

interface Made {
  readonly id: string
  readonly slug: string
  readonly agentId: string
}

/** Every field of a service as `makeService` makes it, right after. */
export const serviceOf = (made: Made, fields: Record<string, unknown> = {}) => ({
  ...{ deliverables: [], demo_url: null, requirement_fields: [] },
  ...summaryOf(made, fields),
})

/** The same without the fields that lists of others omit. */
export const summaryOf = ({ id, slug, agentId }: Made, fields: Record<string, unknown> = {}) => ({
  ...SERVICE,
  id,
  service_id: id,
  slug,
  agent_id: agentId,
  turnaround_hours: 48,
  quota_limit: 0,
  max_revisions: 3,
  active: true,
  marketable: true,
  total_orders: 0,
  completed_orders: 0,
  avg_rating: null,
  review_count: 0,
  created_at: expect.stringMatching(INSTANT) as string,
  updated_at: expect.stringMatching(INSTANT) as string,
  ...fields,
})
