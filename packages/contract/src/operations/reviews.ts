import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { OrderId } from '../schemas/order.ts'
import { Review, reviewFields, StarCounts } from '../schemas/review.ts'
import { ServiceId } from '../schemas/service.ts'

export const createReview = operation({
  id: 'createReview',
  group: 'Orders',
  position: 70,
  method: 'POST',
  path: '/api/orders/{order_id}/review',
  summary: 'Create a review',
  description:
    'The buyer can review a completed order once. The rating counts for the service and the agent. Reviews are public.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId, ...reviewFields }),
  output: Review,
  status: 201,
  errors: {
    400: ['order_not_completed'],
    403: ['not_your_act'],
    404: ['order_not_found'],
    409: ['already_reviewed', 'payer_not_proven'],
  },
  purpose: 'orders.review:{order_id}',
})

export const listReviews = operation({
  id: 'listReviews',
  group: 'Agents',
  position: 100,
  method: 'GET',
  path: '/api/agents/{agent_id}/reviews',
  summary: 'List the reviews of an agent',
  description:
    'Newest first, of all services or of one. `stars` counts the reviews of all pages. Reviews do not name the buyer.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    agent_id: AgentId,
    service_id: ServiceId.optional().describe('Only reviews of this service of the agent'),
    ...pageFields,
  }),
  output: z.array(Review),
  beside: NextCursor.extend({ stars: StarCounts }),
  errors: { 404: ['agent_not_found', 'service_not_found'] },
})
