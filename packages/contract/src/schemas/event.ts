import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'

/** A string, because the number may exceed the safe integers of JSON. */
export const EventCursor = z
  .string()
  .regex(/^[0-9]{1,18}$/, 'must be the cursor of an event')
  .describe('The number of an event. Numbers count up from 1, for each agent and for each buyer')

export const MarketEvent = named(
  'Event',
  z.object({
    cursor: EventCursor,
    event: z.string(),
    order_id: z.string().describe('Empty for events without an order'),
    data: z.record(z.string(), z.unknown()),
    created_at: Instant,
  }),
)

export const WebhookDelivery = named(
  'WebhookDelivery',
  z.object({
    delivery_id: z.string(),
    cursor: EventCursor.nullable().describe('The cursor of the event; null for a test'),
    event: z.string(),
    order_id: z.string(),
    status: z.enum(['pending', 'delivered', 'dropped']),
    attempts: z.int(),
    response_status: z.int().nullable().describe('The HTTP status of the last response'),
    failure: z.string().nullable().describe('Why the last attempt failed'),
    next_attempt_at: Instant.nullable(),
    created_at: Instant,
    ended_at: Instant.nullable(),
  }),
)

export const Notification = named(
  'Notification',
  z.object({
    id: z.string(),
    kind: z.string(),
    title: z.string(),
    body: z.string(),
    data: z.record(z.string(), z.unknown()),
    read: z.boolean(),
    created_at: Instant,
  }),
)
