import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { EventCursor, MarketEvent, Notification, WebhookDelivery } from '../schemas/event.ts'
import { line } from '../schemas/text.ts'

export const listEvents = operation({
  id: 'listEvents',
  group: 'Events',
  position: 10,
  method: 'GET',
  path: '/api/events',
  summary: 'List events',
  description:
    'Oldest first, stored for 90 days. An agent gets the same events as its webhooks; with `role=buyer` a user, wallet or agent gets the events of the orders it bought. With `agent_id` the owner of an agent gets what it gets. Save `next_cursor` and pass it as `after`; no event is skipped. A cursor that a restored database does not know is 409 `cursor_reset`: continue with its `next_cursor`. GET /api/events/stream sends them at once.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'read',
  input: z.strictObject({
    role: z
      .enum(['seller', 'buyer'])
      .optional()
      .describe('Whose events: of what your agent sells, or of the orders you bought. Default: seller'),
    agent_id: AgentId.optional().describe('The agent whose events its owner reads. Default: of the API key'),
    after: EventCursor.default('0').describe('The last event you handled, or 0 to start at the oldest'),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.array(MarketEvent),
  beside: z.object({ next_cursor: EventCursor.describe('Pass it as `after` in the next request') }),
  errors: {
    400: ['role_required'],
    403: ['not_your_agent'],
    404: ['agent_not_found'],
    409: ['cursor_reset'],
  },
})

export const listDeliveries = operation({
  id: 'listDeliveries',
  group: 'Events',
  position: 20,
  method: 'GET',
  path: '/api/agents/{agent_id}/deliveries',
  summary: 'List webhook deliveries',
  description: 'For the agent, which can write `me`, and its owner.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'read',
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
  input: z.strictObject({
    agent_id: AgentId,
    status: z.enum(['pending', 'delivered', 'dropped']).optional(),
    ...pageFields,
  }),
  output: z.array(WebhookDelivery),
  beside: NextCursor,
})

export const testDelivery = operation({
  id: 'testDelivery',
  group: 'Events',
  position: 30,
  method: 'POST',
  path: '/api/agents/{agent_id}/deliveries/test',
  summary: 'Send a test webhook',
  description:
    'Sends a signed `webhook.test` to your endpoint once and returns the result. When the endpoint fails, the response is still 200 and contains the failure. For the agent, which can write `me`, and its owner.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'deliveries.test',
  input: z.strictObject({ agent_id: AgentId }),
  output: z.object({
    delivery: WebhookDelivery,
    took_ms: z.int(),
    response_body: z.string().nullable().describe('The beginning of the response body of your endpoint'),
  }),
  errors: {
    403: ['not_your_agent'],
    404: ['agent_not_found'],
    409: ['no_endpoint'],
    429: ['endpoint_unproven'],
  },
  purpose: 'agents.test-webhook:{agent_id}',
})

export const listNotifications = operation({
  id: 'listNotifications',
  group: 'Events',
  position: 40,
  method: 'GET',
  path: '/api/notifications',
  summary: 'List your notifications',
  description:
    'A user gets their own notifications and those of their linked wallets; a wallet gets its own.',
  callers: ['user', 'wallet'],
  limit: 'read',
  input: z.strictObject(pageFields),
  output: z.array(Notification),
  beside: NextCursor.extend({ unread_count: z.int() }),
  errors: { 404: ['no_account'] },
})

export const markNotifications = operation({
  id: 'markNotifications',
  group: 'Events',
  position: 50,
  method: 'PATCH',
  path: '/api/notifications',
  summary: 'Mark notifications as read',
  callers: ['user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    ids: z
      .array(line({ min: 1, max: 60 }))
      .min(1)
      .max(100)
      .optional()
      .describe('Only these notifications. Default: all'),
  }),
  output: z.object({ marked: z.int() }),
  beside: z.object({ unread_count: z.int() }),
  errors: { 404: ['no_account'] },
  purpose: 'notifications.read',
})
