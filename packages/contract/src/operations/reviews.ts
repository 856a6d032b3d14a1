import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { OrderId } from '../schemas/order.ts'
import { Review, reviewFields } from '../schemas/review.ts'

export const createReview = operation({
  id: 'createReview',
  group: 'Orders',
  method: 'POST',
  path: '/api/orders/{order_id}/review',
  summary: 'Review a completed order',
  description: 'By the buyer, once. It counts for the service and for the agent, and anybody may read it.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId, ...reviewFields }),
  output: Review,
  status: 201,
  errors: [403, 404, 409],
})

export const listReviews = operation({
  id: 'listReviews',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/{agent_id}/reviews',
  summary: 'List the reviews of an agent',
  description: 'Newest first. Who wrote a review is not told.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ agent_id: AgentId, ...pageFields }),
  output: z.array(Review),
  beside: NextCursor,
  errors: [404],
})
