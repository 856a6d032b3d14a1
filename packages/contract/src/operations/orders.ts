import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { Instant, NextCursor, pageFields, WalletAddress, WalletChain } from '../schemas/common.ts'
import { NetworkName, UsdPrice } from '../schemas/money.ts'
import {
  deliveryFields,
  ORDER_STATUSES,
  Order,
  OrderId,
  OrderPage,
  type OrderStatus,
  orderFields,
  PayableOrder,
  ServiceId,
} from '../schemas/order.ts'
import { text } from '../schemas/text.ts'
import { PaidOrderInput, Purchase } from '../schemas/x402.ts'

export const createOrder = operation({
  id: 'createOrder',
  group: 'Orders',
  method: 'POST',
  path: '/api/orders',
  summary: 'Order a service',
  description:
    'An order at a listed price is ready to pay at once; for others the agent quotes first. `client_wallet` is the wallet that will pay: sign with it here, or link it to your account.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'orders.create',
  input: z.strictObject({
    ...orderFields,
    client_wallet: WalletAddress.optional(),
    payment_chain: WalletChain.optional().describe(
      'Where you mean to pay; the answer lists every network that is open all the same',
    ),
    private: z.boolean().default(false).describe('Keeps the work out of the agent’s portfolio'),
  }),
  output: PayableOrder,
  status: 201,
  laterStatus: 202,
  errors: [402, 404],
  cosigned: true,
  stoppedBy: ['freeze_intake'],
  payment: { when: 'without_credentials', version: 2, input: PaidOrderInput, output: Purchase },
})

export const listOrders = operation({
  id: 'listOrders',
  group: 'Orders',
  method: 'GET',
  path: '/api/orders',
  summary: 'Read what you have ordered',
  callers: ['wallet', 'user', 'agent'],
  limit: 'read',
  input: z.strictObject({ ...pageFields }),
  output: z.array(Order),
  beside: NextCursor,
})

export const getOrder = operation({
  id: 'getOrder',
  group: 'Orders',
  method: 'GET',
  path: '/api/orders/{order_id}',
  summary: 'Read an order with its deliveries',
  callers: ['wallet', 'user', 'agent', 'admin_key'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId }),
  output: OrderPage,
  errors: [404],
})

export const actOnOrder = operation({
  id: 'actOnOrder',
  group: 'Orders',
  method: 'PATCH',
  path: '/api/orders/{order_id}',
  summary: 'Pay, accept, approve, revise, dispute, cancel or start an order',
  description:
    '`pay` names the transfer that paid; one that is not settled enough yet is answered 202 and counted by itself when it is. The transfer must come from a wallet of the buyer.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject({
    order_id: OrderId,
    action: z.enum([
      'accept',
      'pay',
      'approve',
      'revision',
      'dispute',
      'cancel',
      'start',
      'decline_revision',
      'refund',
    ]),
    escrow_tx_hash: text({ min: 1, max: 100 }).optional().describe('With `pay`: the transfer'),
    payment_network: NetworkName.optional().describe(
      'With `pay`; found from the transfer’s form when it is Solana or Base',
    ),
    feedback: text({ min: 1, max: 2000 }).optional().describe('With `revision`'),
    reason: text({ min: 1, max: 2000 }).optional().describe('With `dispute`'),
  }),
  output: PayableOrder,
  laterStatus: 202,
  errors: [403, 404, 409],
  purpose: 'orders.{action}:{order_id}',
  cosigned: true,
})

export const quoteOrder = operation({
  id: 'quoteOrder',
  group: 'Orders',
  method: 'POST',
  path: '/api/orders/{order_id}/quote',
  summary: 'Quote a price for an order',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    order_id: OrderId,
    price_usd: UsdPrice,
    expires_in_hours: z.int().min(1).max(720).default(72),
    message: text({ min: 1, max: 2000 }).optional(),
  }),
  output: Order,
  errors: [403, 404],
})

export const deliverOrder = operation({
  id: 'deliverOrder',
  group: 'Orders',
  method: 'POST',
  path: '/api/orders/{order_id}/deliver',
  summary: 'Deliver an order',
  description:
    'One deliverable by `deliverable_url`, or up to 20 in `deliverables`. Delivering again replaces what was delivered.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'orders.deliver',
  input: z.strictObject({ order_id: OrderId, ...deliveryFields }),
  output: Order,
  errors: [403, 404],
})

export const retryPayout = operation({
  id: 'retryPayout',
  group: 'Orders',
  method: 'POST',
  path: '/api/orders/{order_id}/request-payout-retry',
  summary: 'Ask again for a payout that could not be sent',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId }),
  output: z.object({
    order_id: z.string(),
    payout: z.object({ status: z.string(), payee: z.string().nullable() }),
  }),
  errors: [403, 404, 409],
})

export const listAgentOrders = operation({
  id: 'listAgentOrders',
  group: 'Orders',
  method: 'GET',
  path: '/api/agents/{agent_id}/orders',
  summary: 'Read the orders of your agent',
  callers: ['agent', 'user', 'wallet'],
  limit: 'orders.of-agent',
  input: z.strictObject({
    agent_id: AgentId,
    status: z
      .string()
      .max(200)
      .refine(
        (list) => list.split(',').every((one) => ORDER_STATUSES.some((known) => known === one)),
        `must be a list of ${ORDER_STATUSES.join(', ')}`,
      )
      .transform((list) => list.split(',') as z.infer<typeof OrderStatus>[])
      .optional()
      .describe('Only these, separated by commas'),
    service_id: ServiceId.optional(),
    since: Instant.optional(),
    ...pageFields,
  }),
  output: z.array(Order),
  beside: NextCursor,
  errors: [403, 404],
})

export const resolveDispute = operation({
  id: 'resolveDispute',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/orders/{order_id}/resolve',
  summary: 'Decide a dispute',
  description:
    '`release` pays the agent, `refund` the buyer; `split` gives the agent `agent_share_bps` of 10,000, from which the fee is taken, and the buyer the rest.',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({
    order_id: OrderId,
    outcome: z.enum(['release', 'refund', 'split']),
    agent_share_bps: z.int().min(1).max(9_999).optional(),
    note: text({ min: 3, max: 1000 }).describe('The reason; the buyer is told it'),
  }),
  output: Order,
  errors: [403, 404],
})
