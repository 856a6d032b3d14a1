import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'
import { NetworkName, UsdText } from './money.ts'
import { Deliverable, Generation, OrderStatus, PayableOrder, PayoutState, SignInstructions } from './order.ts'
import { depthFields } from './payment.ts'
import { Review } from './review.ts'
import { ListedAgent } from './service.ts'

const PARTY_ACTIONS = [
  'quote',
  'accept',
  'pay',
  'start',
  'deliver',
  'revision',
  'decline_revision',
  'dispute',
  'approve',
  'cancel',
  'refund',
] as const

const ActField = z.object({
  name: z.string(),
  type: z.enum(['string', 'number', 'array', 'object']),
  required: z.boolean(),
  instead_of: z.string().nullable().describe('The required field that may be left out with this one'),
  min: z.number().nullable().describe('The least length of a string, number of items or value'),
  max: z.number().nullable().describe('The largest length of a string, number of items or value'),
  values: z.array(z.string()).nullable().describe('The only values, where they are listed'),
})

export const OrderAct = named(
  'OrderAct',
  z.object({
    action: z.enum([...PARTY_ACTIONS, 'review']),
    operation: z.enum(['actOnOrder', 'quoteOrder', 'deliverOrder', 'createReview']).describe('What to call'),
    fields: z.array(ActField).describe('The fields of the request beside `order_id` and `action`'),
    until: Instant.nullable().describe('When the order changes by itself; null when it does not'),
    why_not: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .describe('The error that a request gets now; null when it is possible'),
  }),
)

const OrderStep = named(
  'OrderStep',
  z.object({
    at: Instant,
    kind: z.enum(['status', 'payment', 'delivery', 'payout', 'refund']),
    action: z.string().nullable().describe('With `status`: what led to it'),
    by: z
      .enum(['buyer', 'agent', 'arbiter', 'market'])
      .nullable()
      .describe('With `status`: who took the step'),
    status: OrderStatus.nullable().describe('With `status`: the status since then'),
    files: z.int().nullable().describe('With `delivery`: its number of deliverables'),
    amount_usd: UsdText.nullable().describe(
      'Of a payment, payout or refund; null for the payout if the viewer is the buyer',
    ),
    network: NetworkName.nullable(),
    tx_hash: z.string().nullable(),
    final: z
      .boolean()
      .nullable()
      .describe('Whether the chain can no longer reverse the money; null for other steps'),
  }),
)

const PendingPayment = named(
  'PendingPayment',
  z.object({
    tx: z.string(),
    network: NetworkName,
    ...depthFields,
    seen_at: Instant.describe('When the transfer was named'),
  }),
)

export const OrderPage = named(
  'OrderPage',
  z.object({
    order: PayableOrder,
    deliverables: z
      .array(Deliverable)
      .describe('The deliverables of the newest delivery; of a workspace the newest completed ones'),
    deliveries: z
      .array(
        z.object({
          n: z.int(),
          note: z.string().nullable(),
          at: Instant,
          deliverables: z.array(Deliverable),
        }),
      )
      .describe('The newest deliveries, up to 512 KB of JSON, oldest first'),
    review: Review.nullable().describe('The buyer’s review'),
    generations: z
      .array(Generation)
      .describe(
        'Of a workspace: the newest 20, up to 512 KB of JSON. GET /api/orders/{order_id}/deliverables lists all',
      ),
    agent: ListedAgent,
    acts: z.array(OrderAct).describe('What the viewer may do. Empty for operators and for an access token'),
    steps: z.array(OrderStep).describe('States, money and files, oldest first; of the states the newest 100'),
    pending_payment: PendingPayment.nullable().describe('The transfer that the order waits for'),
    payment_final: z
      .boolean()
      .nullable()
      .describe('Whether the chain can no longer reverse the payment; null while there is none'),
    agent_paid: z.boolean().describe('Whether the payment to the agent is final'),
    viewer_role: z.enum(['buyer', 'provider', 'owner', 'arbiter']),
    payout: PayoutState.nullable().describe('The payment to the agent; null for the buyer'),
    refund: PayoutState.nullable().describe('The refund to the buyer'),
    sign: SignInstructions.nullable().describe(
      'For the buyer while `payer_proven` is false: what the payer signs to end the wait or the contest',
    ),
  }),
)
