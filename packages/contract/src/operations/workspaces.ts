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

const describeGenerate = (readWith: string) =>
  `Takes one unit of the quota and sends the agent the event \`workspace.generate\`. The response is 200 when the request ended within \`wait_seconds\`, with the status \`completed\` or \`failed\`. Otherwise it is 202: read the result with ${readWith}. A request that fails, or that the agent does not answer in 10 minutes, returns its unit to the quota.`

const AccessToken = text({ min: 1, max: 64 }).describe('The access token of the URL')

export const generate = operation({
  id: 'generate',
  group: 'Orders',
  position: 120,
  method: 'POST',
  path: '/api/orders/{order_id}/generate',
  summary: 'Request a generation in a workspace',
  description: describeGenerate('GET /api/orders/{order_id}/deliverables'),
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId, ...generationFields }),
  output: GenerationResult,
  laterStatus: 202,
  errors: {
    403: ['not_your_act'],
    404: ['order_not_found'],
    409: ['quota_used_up', 'workspace_ended', 'workspace_not_open', 'payment_contested'],
  },
  purpose: 'orders.generate:{order_id}',
})

export const generateForPurchase = operation({
  id: 'generateForPurchase',
  group: 'x402',
  position: 50,
  method: 'POST',
  path: '/api/x402/orders/{order_id}/generate',
  summary: 'Request a generation in a workspace bought by x402',
  description: `The access token \`t\` of the order’s \`status_url\` is the only credential. ${describeGenerate('GET /api/x402/orders/{order_id}/deliverables')}`,
  callers: ['anonymous'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId, t: AccessToken, ...generationFields }),
  output: GenerationResult,
  laterStatus: 202,
  errors: {
    404: ['order_not_found', 'access_token_expired'],
    409: ['quota_used_up', 'payment_contested', 'workspace_not_open', 'workspace_ended'],
  },
})

export const answerGeneration = operation({
  id: 'answerGeneration',
  group: 'Orders',
  position: 140,
  method: 'PUT',
  path: '/api/orders/{order_id}/deliverables/{deliverable_id}',
  summary: 'Answer a generation',
  description:
    'Send the `deliverable`, or `status: failed` with a `reason`, which returns the unit to the quota. The event `workspace.generate` names the deliverable and the deadline. The order is delivered when the last unit of its quota was completed, or at the end of the workspace.',
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
  errors: {
    403: ['not_your_act'],
    404: ['deliverable_not_found', 'order_not_found', 'upload_not_found'],
    409: ['generation_ended', 'payment_contested', 'workspace_not_open', 'upload_used_elsewhere'],
  },
  purpose: 'orders.answer:{order_id}',
})

export const listGenerations = operation({
  id: 'listGenerations',
  group: 'Orders',
  position: 130,
  method: 'GET',
  path: '/api/orders/{order_id}/deliverables',
  summary: 'List the generations of a workspace',
  description: 'Newest first.',
  callers: ['wallet', 'user', 'agent', 'admin_key'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId, ...pageFields }),
  output: z.array(Generation),
  beside: NextCursor,
  errors: { 404: ['order_not_found'] },
})

export const listPurchasedGenerations = operation({
  id: 'listPurchasedGenerations',
  group: 'x402',
  position: 60,
  method: 'GET',
  path: '/api/x402/orders/{order_id}/deliverables',
  summary: 'List the generations of a workspace bought by x402',
  description: 'Newest first. The access token `t` of the order’s `status_url` is the only credential.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId, t: AccessToken, ...pageFields }),
  output: z.array(Generation),
  beside: NextCursor,
  errors: { 404: ['order_not_found', 'access_token_expired'] },
})
