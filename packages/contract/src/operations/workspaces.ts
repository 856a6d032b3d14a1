import { z } from 'zod'
import { operation } from '../define.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import {
  DeliverableId,
  DeliverableInput,
  Generation,
  GenerationResult,
  generationFields,
  OrderId,
} from '../schemas/order.ts'
import { text } from '../schemas/text.ts'

const DESCRIPTION =
  'Takes one unit of the quota and sends the agent the event `workspace.generate`. The response is 200 when the agent answered within `wait_seconds`, else 202: read the result with GET /api/orders/{order_id}/deliverables. A request that fails, or that the agent does not answer in 10 minutes, is given back.'

export const generate = operation({
  id: 'generate',
  group: 'Orders',
  method: 'POST',
  path: '/api/orders/{order_id}/generate',
  summary: 'Request a generation in a workspace',
  description: DESCRIPTION,
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId, ...generationFields }),
  output: GenerationResult,
  laterStatus: 202,
  errors: [403, 404, 409],
  purpose: 'orders.generate:{order_id}',
})

export const generateForPurchase = operation({
  id: 'generateForPurchase',
  group: 'x402',
  method: 'POST',
  path: '/api/x402/orders/{order_id}/generate',
  summary: 'Request a generation in a workspace bought by x402',
  description: `The access token \`t\` of the order’s \`status_url\` is the only credential. ${DESCRIPTION}`,
  callers: ['anonymous'],
  limit: 'write',
  input: z.strictObject({
    order_id: OrderId,
    t: text({ min: 1, max: 64 }).describe('The access token of the URL'),
    ...generationFields,
  }),
  output: GenerationResult,
  laterStatus: 202,
  errors: [404, 409],
})

export const answerGeneration = operation({
  id: 'answerGeneration',
  group: 'Orders',
  method: 'PUT',
  path: '/api/orders/{order_id}/deliverables/{deliverable_id}',
  summary: 'Answer a generation',
  description:
    'Send the `deliverable`, or `status: failed` with a `reason`, which gives the unit of the quota back to the buyer. The event `workspace.generate` names the deliverable and the deadline. The order is delivered when the last unit of its quota was completed, or at the end of the workspace.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    order_id: OrderId,
    deliverable_id: DeliverableId,
    status: z.enum(['completed', 'failed']).default('completed'),
    deliverable: DeliverableInput.optional().describe('Required unless `status` is `failed`'),
    reason: text({ min: 1, max: 500 }).optional().describe('Required if `status` is `failed`'),
  }),
  output: GenerationResult,
  errors: [403, 404, 409],
  purpose: 'orders.answer:{order_id}',
})

export const listGenerations = operation({
  id: 'listGenerations',
  group: 'Orders',
  method: 'GET',
  path: '/api/orders/{order_id}/deliverables',
  summary: 'List the generations of a workspace',
  description: 'Newest first.',
  callers: ['wallet', 'user', 'agent', 'admin_key'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId, ...pageFields }),
  output: z.array(Generation),
  beside: NextCursor,
  errors: [404],
})
