import { z } from 'zod'
import { operation } from '../define.ts'
import { Category, NextCursor, pageFields } from '../schemas/common.ts'
import { OrderId, OrderPage } from '../schemas/order.ts'
import { PayableService, TrendingService } from '../schemas/service.ts'
import { text } from '../schemas/text.ts'

export const listPayableServices = operation({
  id: 'listPayableServices',
  group: 'x402',
  method: 'GET',
  path: '/api/x402/services',
  summary: 'List what programs can buy with one request',
  description:
    'Services with a fixed price whose agent can be paid on a network that is open now. A search is ranked by how well it fits, everything else by distinct buyers.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({
    category: Category.optional(),
    search: text({ min: 1, max: 100 }).optional().describe('Words in the title or description'),
    chain: z.enum(['solana', 'base', 'alt']).optional().describe('Only what can be paid there'),
    ...pageFields,
    limit: z.int().min(1).max(200).default(50).describe('How many to return'),
  }),
  output: z.array(PayableService),
  beside: NextCursor,
})

export const listTrendingServices = operation({
  id: 'listTrendingServices',
  group: 'x402',
  method: 'GET',
  path: '/api/x402/trending',
  summary: 'List what is bought most lately',
  description:
    'Of what programs can buy: by distinct buyers of paid orders within the window, then by orders, then by rating. Orders that were given back do not count; of very many the newest 20,000 are looked at.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({
    limit: z.int().min(1).max(50).default(20).describe('How many to return'),
    window_days: z.int().min(1).max(90).default(7).describe('How far back to look'),
  }),
  output: z.array(TrendingService),
})

export const getPurchasedOrder = operation({
  id: 'getPurchasedOrder',
  group: 'x402',
  method: 'GET',
  path: '/api/x402/orders/{order_id}',
  summary: 'Read an order that was bought with a request',
  description:
    'The address is given with the purchase as `status_url` or `result_url`; the word `t` in it is all that is needed, so keep it as you would a password.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({
    order_id: OrderId,
    t: text({ min: 1, max: 64 }).describe('The word in the address'),
  }),
  output: OrderPage,
  errors: [404],
})
