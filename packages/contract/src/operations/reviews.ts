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
  summary: 'Create a review',
  description:
    'The buyer can review a completed order once. The rating counts for the service and the agent. Reviews are public.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId, ...reviewFields }),
  output: Review,
  status: 201,
  errors: [403, 404, 409],
  purpose: 'orders.review:{order_id}',
})

export const listReviews = operation({
  id: 'listReviews',
  group: 'Agents',
  method: 'GET',
  path: '/api/agents/{agent_id}/reviews',
  summary: 'List the reviews of an agent',
  description: 'Newest first. Reviews do not name the buyer.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ agent_id: AgentId, ...pageFields }),
  output: z.array(Review),
  beside: NextCursor,
  errors: [404],
})
