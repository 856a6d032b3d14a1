import { z } from 'zod'
import { named, operation, type Payment, READ_BY_OPERATORS, WRITE_BY_OPERATORS } from '../define.ts'
import { Category, Instant, NextCursor, pageFields } from '../schemas/common.ts'
import { NetworkName, UsdText } from '../schemas/money.ts'
import { OrderId } from '../schemas/order.ts'
import { OrderPage } from '../schemas/order-page.ts'
import { PayableService, TrendingService } from '../schemas/service.ts'
import { text } from '../schemas/text.ts'
import {
  DirectoryList,
  DirectorySearch,
  directoryFilters,
  Purchase,
  PurchaseInput,
  Resource,
} from '../schemas/x402.ts'

/** A credential beside the payment places the order for its caller. The wallet that paid may sign beside it. */
const buyers = {
  callers: ['anonymous', 'agent', 'user', 'wallet'],
  purpose: 'orders.create:{service_id}',
  cosigned: true,
} as const

/** Every route that sells a service takes the same fields. */
const purchase = (version: Payment['version'], output: z.ZodType): Payment => ({
  when: 'always',
  version,
  input: PurchaseInput,
  output,
})

const HOW_TO_PAY =
  'Without a payment the response is 402 with the payment requirements. Pay, then send the same request again with `X-PAYMENT` (the transaction hash of a transfer you made) or `PAYMENT-SIGNATURE` (x402 version 2). The price is 110 % of the listed price. A credential beside the payment places the order for its caller, who reviews the delivery. A transaction hash is public: `proof` of the 402 body says how long the seller’s payout waits without a signature of the payer, and how a payment is contested.'

export const hireService = operation({
  id: 'hireService',
  group: 'x402',
  position: 70,
  method: 'POST',
  path: '/api/x402/discover/{service_id}',
  alsoAt: [
    {
      method: 'GET',
      path: '/api/x402/discover/{service_id}',
      summary: 'Get the price of a service with GET',
      limit: 'x402.discover',
    },
    {
      method: 'GET',
      path: '/api/x402/discover',
      summary: 'Get the price of a service with GET, by query',
      limit: 'x402.discover',
    },
    {
      method: 'POST',
      path: '/api/x402/discover',
      summary: 'Get the price of a service and hire it, by body',
    },
  ],
  summary: 'Get the price of a service and hire it',
  description: HOW_TO_PAY,
  ...buyers,
  limit: 'x402.hire',
  input: PurchaseInput,
  output: Resource,
  isBare: true,
  laterStatus: 202,
  errors: { 400: ['brief_required', 'own_service'], 404: ['service_not_found', 'not_payable'] },
  stoppedBy: ['freeze_intake'],
  payment: purchase(2, Resource),
})

export const payService = operation({
  id: 'payService',
  group: 'x402',
  position: 10,
  method: 'POST',
  path: '/api/x402/pay',
  summary: 'Pay for a service and hire it',
  description: `\`service_id\` may be in the query. ${HOW_TO_PAY}`,
  ...buyers,
  limit: 'x402.pay',
  input: PurchaseInput,
  output: Purchase,
  laterStatus: 202,
  errors: { 400: ['brief_required', 'own_service'], 404: ['service_not_found', 'not_payable'] },
  stoppedBy: ['freeze_intake'],
  payment: purchase(2, Purchase),
})

export const payServiceV1 = operation({
  id: 'payServiceV1',
  group: 'x402',
  position: 80,
  method: 'POST',
  path: '/api/x402/v1/pay',
  summary: 'Pay for a service as an x402 version 1 client',
  description:
    'The 402 body and `X-PAYMENT` are those of x402 version 1. Version 2 clients use `/api/x402/pay`.',
  ...buyers,
  limit: 'x402.pay-v1',
  input: PurchaseInput,
  output: Purchase,
  laterStatus: 202,
  errors: { 400: ['brief_required', 'own_service'], 404: ['service_not_found', 'not_payable'] },
  stoppedBy: ['freeze_intake'],
  payment: purchase(1, Purchase),
})

export const listDirectory = operation({
  id: 'listDirectory',
  group: 'x402',
  position: 90,
  method: 'GET',
  path: '/api/x402/directory',
  alsoAt: [
    {
      method: 'GET',
      path: '/api/x402/discovery/resources',
      summary: 'List payable services at the path of the Bazaar',
    },
  ],
  summary: 'List payable services in the x402 Bazaar format',
  callers: ['anonymous'],
  limit: 'read',
  input: z.object({
    ...directoryFilters,
    offset: z
      .int()
      .min(0)
      .max(999_999_999)
      .default(0)
      .describe('How many to skip; beyond 3,000 use the search'),
  }),
  output: DirectoryList,
  isBare: true,
  cacheSeconds: 30,
})

export const searchDirectory = operation({
  id: 'searchDirectory',
  group: 'x402',
  position: 100,
  method: 'GET',
  path: '/api/x402/discovery/search',
  summary: 'Search payable services in the x402 Bazaar format',
  callers: ['anonymous'],
  limit: 'read',
  input: z.object({
    ...directoryFilters,
    query: text({ min: 1, max: 3000 })
      .refine((value) => value.trim() !== '', 'must not be blank')
      .describe('Words to search for; the first 100 characters count'),
    cursor: text({ min: 1, max: 300 }).optional().describe('`pagination.cursor` of the page before'),
  }),
  output: DirectorySearch,
  isBare: true,
  cacheSeconds: 30,
})

export const listPayableServices = operation({
  id: 'listPayableServices',
  group: 'x402',
  position: 20,
  method: 'GET',
  path: '/api/x402/services',
  summary: 'List services payable by x402',
  description:
    'Services with a fixed price whose agent can be paid on an open network. A search is ranked by relevance, everything else by distinct buyers.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    category: Category.optional(),
    search: text({ min: 1, max: 100 }).optional().describe('Words of the title or description'),
    chain: z.enum(['solana', 'base', 'alt']).optional().describe('Only services payable on this chain'),
    ...pageFields,
    limit: z.int().min(1).max(200).default(50).describe('How many to return'),
  }),
  output: z.array(PayableService),
  beside: NextCursor,
})

export const listTrendingServices = operation({
  id: 'listTrendingServices',
  group: 'x402',
  position: 30,
  method: 'GET',
  path: '/api/x402/trending',
  summary: 'List trending services payable by x402',
  description:
    'Ranked by distinct buyers of paid orders within the window, then by orders, then by rating. Refunded orders do not count. At most the newest 20,000 orders are considered.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    limit: z.int().min(1).max(50).default(20).describe('How many to return'),
    window_days: z.int().min(1).max(90).default(7).describe('Length of the window'),
  }),
  output: z.array(TrendingService),
})

export const getPurchasedOrder = operation({
  id: 'getPurchasedOrder',
  group: 'x402',
  position: 40,
  method: 'GET',
  path: '/api/x402/orders/{order_id}',
  summary: 'Get an order bought by x402',
  description:
    'The purchase returns this URL as `status_url` or `result_url`. The access token `t` in it is the only credential: keep it secret. It expires 30 days after the order ends.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({
    order_id: OrderId,
    t: text({ min: 1, max: 64 }).describe('The access token of the URL'),
  }),
  output: OrderPage,
  errors: { 404: ['access_token_expired', 'order_not_found'] },
})

const PurchaseId = z
  .string()
  .regex(/^hir_[0-9]{1,15}_[0-9a-z]{17}$/, 'must be a purchase id, hir_…')
  .describe('Purchase id, hir_…')

const ContestedPurchase = named(
  'ContestedPurchase',
  z.object({
    purchase_id: z.string(),
    order_id: z.string().nullable().describe('Decide with POST /api/admin/orders/{order_id}/resolve'),
    agent_id: z.string().nullable().describe('The agent of a contested registration'),
    contested_at: Instant,
    ends_at: Instant.nullable().describe('When it is refunded without a decision; null when you decide'),
    network: NetworkName,
    tx_hash: z.string(),
    payer: z.string().nullable(),
    paid_at: Instant.describe('The time of the block'),
    amount_usd: UsdText,
    namings: z
      .array(
        z.object({
          subject: z.string().describe('`service:svc_…` or `registration`'),
          request: z.record(z.string(), z.unknown()),
          amount_usd: UsdText,
          named_at: Instant,
        }),
      )
      .describe('Every request that named the transfer, the first one first'),
  }),
)

export const listContests = operation({
  id: 'listContests',
  ...READ_BY_OPERATORS,
  position: 130,
  method: 'GET',
  path: '/api/admin/contests',
  summary: 'List contested payments',
  description:
    'Transfers that two requests named with different content and no signature decided, oldest first.',
  input: z.strictObject({ ...pageFields }),
  output: z.array(ContestedPurchase),
  beside: NextCursor,
})

export const resolveRegistration = operation({
  id: 'resolveRegistration',
  ...WRITE_BY_OPERATORS,
  position: 140,
  method: 'POST',
  path: '/api/admin/contests/{purchase_id}/resolve',
  summary: 'Resolve a contested registration',
  description:
    '`release`: the registration stands. `refund`: the payer gets the payment back, and the agent a new API key, which only its owner can recover.',
  input: z.strictObject({
    purchase_id: PurchaseId,
    outcome: z.enum(['release', 'refund']),
    note: text({ min: 3, max: 1000 }).describe('The reason; stored in the audit log'),
  }),
  output: z.object({ purchase_id: z.string(), outcome: z.enum(['release', 'refund']) }),
  errors: { 403: ['own_case'], 404: ['contest_not_found'] },
})
