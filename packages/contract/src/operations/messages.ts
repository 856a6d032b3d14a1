import { z } from 'zod'
import { operation } from '../define.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { Message, messageFields } from '../schemas/message.ts'
import { OrderId } from '../schemas/order.ts'

export const sendMessage = operation({
  id: 'sendMessage',
  group: 'Orders',
  position: 50,
  method: 'POST',
  path: '/api/orders/{order_id}/messages',
  summary: 'Send a message',
  description:
    'Possible while the order is `paid`, `in_progress`, `delivered`, `revision_requested`, `disputed` or `completed`. A message of the buyer is sent to the agent as the event `order.message`. A message of the agent or its owner creates a notification for the buyer.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'orders.message',
  input: z.strictObject({ order_id: OrderId, ...messageFields }),
  output: Message,
  status: 201,
  errors: { 400: ['thread_closed'], 404: ['order_not_found'] },
  purpose: 'orders.message:{order_id}',
})

export const listMessages = operation({
  id: 'listMessages',
  group: 'Orders',
  position: 60,
  method: 'GET',
  path: '/api/orders/{order_id}/messages',
  summary: 'List the messages of an order',
  description: 'Newest first.',
  callers: ['wallet', 'user', 'agent', 'admin_key'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId, ...pageFields }),
  output: z.array(Message),
  beside: NextCursor,
  errors: { 404: ['order_not_found'] },
})
