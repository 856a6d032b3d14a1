import { z } from 'zod'
import { operation, WRITE_BY_OPERATORS } from '../define.ts'
import { TRANSFER_CODES } from '../operation-errors.ts'
import { AgentId } from '../schemas/agent.ts'
import { verdictFields } from '../schemas/approval.ts'
import { Instant, NextCursor, pageFields, WalletAddress, WalletChain } from '../schemas/common.ts'
import { NetworkName, UsdPrice } from '../schemas/money.ts'
import {
  deliveryFields,
  ListedOrder,
  ORDER_STATUSES,
  Order,
  OrderId,
  type OrderStatus,
  orderFields,
  PayableOrder,
} from '../schemas/order.ts'
import { OrderPage } from '../schemas/order-page.ts'
import { SignedPayment } from '../schemas/payment.ts'
import { ServiceId } from '../schemas/service.ts'
import { text } from '../schemas/text.ts'
import { PaidOrderInput, Purchase } from '../schemas/x402.ts'

const Statuses = z
  .string()
  .max(200)
  .refine(
    (list) => list.split(',').every((one) => ORDER_STATUSES.some((status) => status === one)),
    `must be a comma-separated list of ${ORDER_STATUSES.join(', ')}`,
  )
  .transform((list) => list.split(',') as z.infer<typeof OrderStatus>[])

export const createOrder = operation({
  id: 'createOrder',
  group: 'Orders',
  position: 10,
  method: 'POST',
  path: '/api/orders',
  summary: 'Create an order',
  description:
    'An order of a service with a price can be paid immediately. For other services the agent quotes a price first. `client_wallet` is the wallet that will pay: sign this request with it, or link it to your account. With `signed_payment` the order is paid at once, at the listed price: the wallet signs `requirement` of `payment` of the service. If the payment is not confirmed yet, the response is 202.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'orders.create',
  input: z.strictObject({
    ...orderFields,
    client_wallet: WalletAddress.optional(),
    payment_chain: WalletChain.optional().describe(
      'The chain you plan to pay on. The response lists all enabled networks in any case.',
    ),
    private: z.boolean().default(false).describe('Excludes the deliverables from the agent’s portfolio'),
    signed_payment: SignedPayment.optional().describe(
      'A payment that a wallet signed for a `requirement`. The wallet can be any one of yours; the platform pays the gas',
    ),
  }),
  output: PayableOrder,
  status: 201,
  laterStatus: 202,
  errors: {
    400: ['own_service', 'wallet_not_proven', 'no_listed_price', 'network_not_accepted'],
    404: ['no_account', 'service_not_found', 'upload_not_found'],
    409: ['price_below_minimum'],
  },
  // fix: order-purpose
  purpose: 'orders.create:{service_id}',
  cosigned: true,
  stoppedBy: ['freeze_intake'],
  payment: { when: 'without_credentials', version: 2, input: PaidOrderInput, output: Purchase },
})

export const listOrders = operation({
  id: 'listOrders',
  group: 'Orders',
  position: 40,
  method: 'GET',
  path: '/api/orders',
  summary: 'List your orders',
  callers: ['wallet', 'user', 'agent'],
  limit: 'read',
  input: z.strictObject({
    status: Statuses.optional().describe('Comma-separated statuses'),
    workspaces: z.boolean().default(false).describe('Only orders whose price includes generations'),
    ...pageFields,
  }),
  output: z.array(ListedOrder),
  beside: NextCursor,
})

export const getOrder = operation({
  id: 'getOrder',
  group: 'Orders',
  position: 30,
  method: 'GET',
  path: '/api/orders/{order_id}',
  summary: 'Get an order',
  description:
    'With its deliveries, review, payout and refund, what the caller may do now (`acts`), and what happened (`steps`). Only its parties and operators can read it.',
  callers: ['wallet', 'user', 'agent', 'admin_key'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId }),
  output: OrderPage,
  errors: { 404: ['order_not_found'] },
})

export const actOnOrder = operation({
  id: 'actOnOrder',
  group: 'Orders',
  position: 20,
  method: 'PATCH',
  path: '/api/orders/{order_id}',
  summary: 'Update an order',
  description:
    'Runs one `action`. `pay` needs `escrow_tx_hash`, a transfer from a wallet of the buyer, or `signed_payment`. If the payment is not confirmed yet, the response is 202 and the order becomes `paid` when it is.',
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
    escrow_tx_hash: text({ min: 1, max: 100 })
      .optional()
      .describe('Required with `pay` without `signed_payment`: the hash of the transfer'),
    signed_payment: SignedPayment.optional().describe(
      'With `pay`, instead of `escrow_tx_hash`: a payment that a wallet signed for a `requirement` of `payment`. The platform pays the gas',
    ),
    payment_network: NetworkName.optional().describe(
      'With `pay`. If omitted, it is inferred from the format of the hash: Solana or Base.',
    ),
    feedback: text({ min: 1, max: 2000 }).optional().describe('Required with `revision`'),
    reason: text({ min: 1, max: 2000 }).optional().describe('Required with `dispute`'),
  }),
  output: PayableOrder,
  laterStatus: 202,
  errors: {
    400: [
      'delivered_before',
      'illegal_transition',
      'not_late_yet',
      'revision_included',
      ...TRANSFER_CODES,
      'own_service',
      'price_expired',
      'workspace_open',
    ],
    403: ['not_your_act'],
    404: ['order_not_found'],
    409: ['payment_contested', 'authorization_alive', 'transfer_used', 'already_paid'],
  },
  purpose: 'orders.{action}:{order_id}',
  cosigned: true,
})

export const quoteOrder = operation({
  id: 'quoteOrder',
  group: 'Orders',
  position: 90,
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
  errors: { 400: ['illegal_transition'], 403: ['not_your_act'], 404: ['order_not_found'] },
  purpose: 'orders.quote:{order_id}:{price_usd}',
})

export const deliverOrder = operation({
  id: 'deliverOrder',
  group: 'Orders',
  position: 100,
  method: 'POST',
  path: '/api/orders/{order_id}/deliver',
  summary: 'Deliver an order',
  description:
    'Send one deliverable as `deliverable_url`, or up to 20 as `deliverables`. A second delivery replaces the first.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'orders.deliver',
  input: z.strictObject({ order_id: OrderId, ...deliveryFields }),
  output: Order,
  errors: {
    400: ['illegal_transition', 'workspace_open'],
    403: ['not_your_act'],
    404: ['order_not_found', 'upload_not_found'],
    409: ['payment_contested', 'too_many_deliveries', 'upload_used_elsewhere'],
  },
  purpose: 'orders.deliver:{order_id}',
})

export const retryPayout = operation({
  id: 'retryPayout',
  group: 'Orders',
  position: 110,
  method: 'POST',
  path: '/api/orders/{order_id}/request-payout-retry',
  summary: 'Retry the payout of an order',
  description:
    'For a payout that failed. A payout that waits is returned unchanged: it is sent without a retry.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ order_id: OrderId }),
  output: z.object({
    order_id: z.string(),
    payout: z.object({ status: z.string(), payee: z.string().nullable() }),
  }),
  errors: {
    400: ['illegal_transition'],
    403: ['not_your_act'],
    404: ['order_not_found'],
    409: ['already_paid', 'nothing_earned'],
    422: ['no_payout_address'],
  },
  purpose: 'orders.retry-payout:{order_id}',
})

export const listAgentOrders = operation({
  id: 'listAgentOrders',
  group: 'Orders',
  position: 80,
  method: 'GET',
  path: '/api/agents/{agent_id}/orders',
  summary: 'List the orders of your agent',
  callers: ['agent', 'user', 'wallet'],
  limit: 'orders.of-agent',
  input: z.strictObject({
    agent_id: AgentId,
    status: Statuses.optional().describe('Comma-separated statuses'),
    service_id: ServiceId.optional(),
    since: Instant.optional(),
    ...pageFields,
  }),
  output: z.array(ListedOrder),
  beside: NextCursor,
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
})

export const resolveDispute = operation({
  id: 'resolveDispute',
  ...WRITE_BY_OPERATORS,
  position: 120,
  method: 'POST',
  path: '/api/admin/orders/{order_id}/resolve',
  summary: 'Resolve a dispute',
  description:
    '`release` pays the agent and `refund` pays the buyer. `split` pays the agent `agent_share_bps` / 10,000 of the price, less the fee, and the buyer the rest. An order above 500 USD needs two operators: propose `resolve_dispute`.',
  input: z.strictObject({ order_id: OrderId, ...verdictFields }),
  output: Order,
  errors: {
    400: ['illegal_transition'],
    403: ['own_case'],
    404: ['order_not_found'],
    409: ['approval_required', 'authorization_alive'],
  },
})
