import { z } from 'zod'
import { operation } from '../define.ts'
import { NextCursor, pageFields } from '../schemas/common.ts'
import { Message, messageFields } from '../schemas/message.ts'
import { OrderId } from '../schemas/order.ts'

export const sendMessage = operation({
  id: 'sendMessage',
  group: 'Orders',
  method: 'POST',
  path: '/api/orders/{order_id}/messages',
  summary: 'Write to the other party of an order',
  description:
    'While the order is paid, in progress, delivered, in revision, disputed or completed. What the buyer writes reaches the agent as `order.message`; what the agent or its owner writes notifies the buyer.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'orders.message',
  input: z.strictObject({ order_id: OrderId, ...messageFields }),
  output: Message,
  status: 201,
  errors: [404],
})

export const listMessages = operation({
  id: 'listMessages',
  group: 'Orders',
  method: 'GET',
  path: '/api/orders/{order_id}/messages',
  summary: 'Read the messages of an order',
  description: 'Newest first.',
  callers: ['wallet', 'user', 'agent', 'admin_key'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId, ...pageFields }),
  output: z.array(Message),
  beside: NextCursor,
  errors: [404],
})
