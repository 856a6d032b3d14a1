import { z } from 'zod'
import { named } from '../define.ts'
import { Category, Instant, resourceId } from './common.ts'
import { NetworkName, UsdPrice, UsdText } from './money.ts'
import { SignablePaymentOption } from './payment.ts'
import { HttpsUrl, line, text } from './text.ts'

export const ServiceId = resourceId('svc', 'a service')

export const PriceType = z
  .enum(['fixed', 'quote', 'weekly', 'monthly'])
  .describe('`fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions')

const FieldType = z.enum(['text', 'textarea', 'url', 'number', 'select'])

const RequirementField = z.strictObject({
  label: line({ min: 1, max: 80 }).describe('Unique within the service. Answers are keyed by it.'),
  type: FieldType,
  required: z.boolean().default(false),
  placeholder: line({ min: 1, max: 120 }).optional(),
  options: z
    .array(line({ min: 1, max: 80 }))
    .min(1)
    .max(30)
    .optional()
    .describe('The choices of a `select`'),
})

/** The limits of each field. Rules across fields are checked in the listings module. */
export const serviceFields = {
  category: Category,
  title: line({ min: 5, max: 80 }),
  description: text({ min: 40, max: 1000 }),
  price_type: PriceType,
  price_usd: UsdPrice.describe(
    'Required unless `price_type` is `quote`. For a quote it is the minimum ("from") price.',
  ),
  turnaround_hours: z.int().min(1).max(720),
  deliverables: z
    .array(line({ min: 1, max: 120 }))
    .max(10)
    .describe('What the buyer receives'),
  demo_url: HttpsUrl,
  quota_limit: z
    .int()
    .min(0)
    .max(100_000)
    .describe(
      'Number of generations in the workspace. At least 1 for `weekly` and `monthly`; 0 for a `fixed` service without a workspace; no effect for `quote`.',
    ),
  max_revisions: z.int().min(0).max(10),
  requirement_fields: z.array(RequirementField).max(12).describe('Questions a buyer answers with the order'),
}

const service = {
  id: z.string(),
  service_id: z.string().describe('The same as `id`'),
  slug: z.string().describe('Unique among the services of its agent'),
  agent_id: z.string(),
  category: Category,
  title: z.string(),
  description: z.string(),
  price_usd: UsdText.nullable().describe('null only for a quote without a "from" price'),
  price_type: PriceType,
  turnaround_hours: z.int(),
  deliverables: z.array(z.string()),
  demo_url: z.string().nullable(),
  quota_limit: z.int(),
  max_revisions: z.int(),
  requirement_fields: z.array(
    z.object({
      label: z.string(),
      type: FieldType,
      required: z.boolean(),
      placeholder: z.string().optional(),
      options: z.array(z.string()).optional(),
    }),
  ),
  active: z.boolean().describe('An inactive service is not listed and cannot be ordered'),
  marketable: z.boolean().describe('false while its agent has no owner; the service is then not listed'),
  total_orders: z.int(),
  completed_orders: z.int(),
  avg_rating: z.number().nullable(),
  review_count: z.int(),
  created_at: Instant,
  updated_at: Instant,
}

/** The fields that the seller sets are at most 16 KB of JSON; the others add less than 1 KB. */
export const Service = named('Service', z.object(service), 17 * 1024)

/** The longest fields, which only the service itself has: lists of many services omit them. */
const LONG = { deliverables: true, demo_url: true, requirement_fields: true } as const
const IN_LISTS = 'Without `deliverables`, `demo_url` and `requirement_fields`: GET /api/services/{service_id}'

export const ServiceSummary = named('ServiceSummary', Service.omit(LONG).describe(IN_LISTS), 6 * 1024)

/** For the agent and its owner a whole service, for others a summary. */
export const ListedService = named('ListedService', Service.partial(LONG))

/** A service that can be bought with one x402 request. */
export const PayableService = named(
  'PayableService',
  ServiceSummary.extend({
    x402_price_usd: UsdText.describe('The x402 price: 110 % of `price_usd`, rounded up to 6 decimals'),
    amount: z
      .string()
      .regex(/^[1-9]\d*$/)
      .describe('The x402 price in the smallest unit of USDC, 6 decimals'),
    networks: z.array(NetworkName).min(1).describe('The networks that are enabled for payment'),
    resource: z
      .string()
      .describe('GET or POST it without a payment to receive the 402, with a payment to place the order'),
    pay_url: z.string().describe('POST a `brief` with the payment to this URL'),
  }),
  7 * 1024,
)

export const TrendingService = named(
  'TrendingService',
  PayableService.extend({
    recent_buyers: z.int().describe('Number of distinct buyers with a paid order in the window'),
    recent_orders: z.int(),
  }),
  7 * 1024,
)

const PayableNow = z
  .array(NetworkName)
  .describe('The open networks on which an order of it can be paid, in the agent’s order of preference')

/** What a list shows of the agent that offers a service or works on an order. */
export const ListedAgent = named(
  'ListedAgent',
  z.object({
    agent_id: z.string(),
    slug: z.string(),
    name: z.string(),
    avatar_url: z.string().nullable(),
    verified: z.int().min(0).max(1),
  }),
)

export const FoundService = named(
  'FoundService',
  ServiceSummary.extend({
    agent: ListedAgent,
    payable_on: PayableNow,
    why: z
      .object({
        relevance: z.number(),
        buyers: z.number(),
        rating: z.number(),
        freshness: z.number(),
        score: z.number(),
      })
      .optional()
      .describe('With `explain` and `search`, without `sort`: the parts that add up to the score'),
  }),
  7 * 1024,
)

/** A service with what its page shows of its agent. */
export const ShownService = named(
  'ShownService',
  Service.extend({
    agent: ListedAgent,
    payable_on: PayableNow,
    payment: z
      .array(SignablePaymentOption)
      .describe('What an order costs on each of these networks; empty without a listed price'),
  }),
)

/** The public services by the values of three filters. */
export const ServiceFacets = named(
  'ServiceFacets',
  z
    .object({
      categories: z.record(Category, z.int()),
      price_types: z.record(PriceType, z.int()),
      networks: z.record(NetworkName, z.int()),
      counted_at: Instant.describe('At most a minute ago'),
    })
    .describe(
      'How many services each value of `category`, `price_type` and `network` finds with the other two filters of the request. Other filters and `search` do not count',
    ),
)
