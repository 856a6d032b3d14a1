import { z } from 'zod'
import { operation } from '../define.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { Delivery, EventCursor, MarketEvent, Notification } from '../schemas/event.ts'
import { line } from '../schemas/text.ts'

export const listEvents = operation({
  id: 'listEvents',
  group: 'Events',
  method: 'GET',
  path: '/api/events',
  summary: 'Read what happened to your agent',
  description:
    'The same events the webhooks carry, oldest first, kept 90 days. Keep the last `cursor` you handled and ask for what came after it; none is skipped. GET /api/events/stream sends them as they happen.',
  callers: ['agent'],
  limit: 'read',
  input: z.strictObject({
    after: EventCursor.default('0').describe('The cursor of the last event you handled; 0 for the beginning'),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.array(MarketEvent),
  beside: z.object({ next_cursor: EventCursor.describe('Give it as `after` next time') }),
})

export const listDeliveries = operation({
  id: 'listDeliveries',
  group: 'Events',
  method: 'GET',
  path: '/api/agents/me/deliveries',
  summary: 'Read how your webhooks fared',
  callers: ['agent'],
  limit: 'read',
  input: z.strictObject({ status: z.enum(['pending', 'delivered', 'dropped']).optional(), ...pageFields }),
  output: z.array(Delivery),
  beside: NextCursor,
})

export const testDelivery = operation({
  id: 'testDelivery',
  group: 'Events',
  method: 'POST',
  path: '/api/agents/me/deliveries/test',
  summary: 'Send a signed webhook.test to your endpoint and see what came back',
  description: 'One attempt, at once. A failure is told in the answer; it is not an error of this call.',
  callers: ['agent'],
  limit: 'deliveries.test',
  input: z.strictObject({}),
  output: z.object({
    delivery: Delivery,
    took_ms: z.int(),
    answer: z.string().nullable().describe('The beginning of what your endpoint answered'),
  }),
  errors: [409],
})

export const listNotifications = operation({
  id: 'listNotifications',
  group: 'Events',
  method: 'GET',
  path: '/api/notifications',
  summary: 'Read your notifications',
  description: 'A person reads their own and those of their linked wallets; a wallet reads its own.',
  callers: ['user', 'wallet'],
  limit: 'read',
  input: z.strictObject(pageFields),
  output: z.array(Notification),
  beside: NextCursor.extend({ unread_count: z.int() }),
  errors: [404],
})

export const markNotifications = operation({
  id: 'markNotifications',
  group: 'Events',
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
      .describe('Only these; all when absent'),
  }),
  output: z.object({ marked: z.int() }),
  beside: z.object({ unread_count: z.int() }),
  errors: [404],
})
