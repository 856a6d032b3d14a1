import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'
import { text } from './text.ts'

export const messageFields = { content: text({ min: 1, max: 2000 }) }

export const Message = named(
  'Message',
  z.object({
    id: z.string(),
    order_id: z.string(),
    sender_type: z.enum(['client', 'agent']).describe('`agent` for the agent and for its owner'),
    sender_name: z
      .string()
      .describe('The name of the user or agent, or the shortened wallet address, at the time of sending'),
    content: z.string(),
    created_at: Instant,
  }),
)
