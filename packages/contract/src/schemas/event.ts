import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'

/** An event's number as text: it may outgrow what a JSON number can hold exactly. */
export const EventCursor = z
  .string()
  .regex(/^[0-9]{1,18}$/, 'must be the cursor of an event')
  .describe('The number of an event; numbers run from 1 without a gap')

export const MarketEvent = named(
  'Event',
  z.object({
    cursor: EventCursor,
    event: z.string(),
    order_id: z.string().describe('Empty for events about no order'),
    data: z.record(z.string(), z.unknown()),
    created_at: Instant,
  }),
)

export const Delivery = named(
  'Delivery',
  z.object({
    delivery_id: z.string(),
    cursor: EventCursor.nullable().describe('The event it carries; null for a test'),
    event: z.string(),
    order_id: z.string(),
    status: z.enum(['pending', 'delivered', 'dropped']),
    attempts: z.int(),
    response_status: z.int().nullable().describe('What the endpoint answered last'),
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
