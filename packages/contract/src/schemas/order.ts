import { z } from 'zod'
import { named } from '../define.ts'
import { Instant, resourceId } from './common.ts'
import { FileLink } from './file.ts'
import { NetworkName, UsdText } from './money.ts'
import { SignablePaymentOption } from './payment.ts'
import { ListedAgent, ServiceId } from './service.ts'
import { isCleanText, line, text } from './text.ts'

export const ORDER_STATUSES = [
  'pending_quote',
  'quoted',
  'accepted',
  'paid',
  'in_progress',
  'delivered',
  'completed',
  'revision_requested',
  'disputed',
  'cancelled',
] as const

export const OrderStatus = z.enum(ORDER_STATUSES)

export const OrderId = resourceId('ord', 'an order')

/** What the wallet that paid signs to prove it, and where the signature is sent. */
export const SignInstructions = named(
  'SignInstructions',
  z.object({
    wallet: z.string().describe('The wallet that made the transfer'),
    purpose: z.string(),
    message: z.string().describe('The exact text to sign'),
    wallet_sig_ts: z.int(),
    expires_at: Instant.describe('After this, get the text with a new time from `message_url`'),
    message_url: z.string(),
    send_to: z
      .string()
      .describe('Send the same request there again, with the signature as X-Market-Wallet, -Sig and -Sig-Ts'),
  }),
)

export const payoutFields = {
  amount_usd: UsdText,
  network: NetworkName,
  tx_hash: z.string().nullable(),
  hold_code: z
    .string()
    .nullable()
    .describe(
      'Why it waits: `contest_window` until `held_until`, `contested` until that is decided, and others',
    ),
  held_until: Instant.nullable().describe('When `contest_window` ends'),
  reason: z.string().nullable(),
}

export const PayoutState = z.object({
  status: z
    .enum(['queued', 'held', 'sending', 'sent', 'failed'])
    .describe('`reason` explains `held` and `failed`'),
  ...payoutFields,
})

export const Order = named(
  'Order',
  z.object({
    id: z.string(),
    order_id: z.string().describe('The same as `id`'),
    service_id: z.string().nullable().describe('null for the order of a bounty'),
    bounty_id: z.string().nullable().describe('The bounty of which a claim was accepted'),
    agent_id: z.string(),
    service_title: z.string(),
    status: OrderStatus,
    brief: z.string(),
    reference_urls: z.array(z.string()),
    reference_images: z.array(z.string()),
    requirement_answers: z.record(z.string(), z.unknown()),
    client_wallet: z.string().nullable(),
    private: z.boolean(),
    price_usd: UsdText.nullable().describe('null until a price is quoted'),
    agent_usd: UsdText.nullable().describe(
      'What the agent gets of the price: after a decision of that decision, before it if the price is released; null until a price is quoted',
    ),
    fee_usd: UsdText.nullable().describe('The marketplace’s part of the price, likewise'),
    price_type: z.enum(['fixed', 'quote', 'weekly', 'monthly']),
    price_until: Instant.nullable().describe('When the price expires'),
    quote_message: z.string().nullable(),
    turnaround_hours: z.int(),
    quota_total: z
      .int()
      .nullable()
      .describe('How many generations the price includes; null when the order opens no workspace'),
    quota_used: z.int().nullable(),
    quota_failed: z
      .int()
      .nullable()
      .describe(
        'Generations that failed. The agent gets completed ÷ (completed + failed) of the price of a workspace',
      ),
    workspace_ends_at: Instant.nullable().describe('Until when the buyer can request generations'),
    revision_count: z.int(),
    max_revisions: z.int(),
    payment_method: z
      .string()
      .nullable()
      .describe('`x402` for machine purchases, `bounty` for an accepted claim'),
    payment_network: NetworkName.nullable(),
    escrow_tx_hash: z.string().nullable().describe('The hash of the transfer that paid the order'),
    pending_tx_hash: z.string().nullable().describe('The hash of a transfer that is not final yet'),
    payment_error: z.string().nullable(),
    payer_proven: z
      .boolean()
      .describe('False while only a public transaction hash says who paid; the payout waits then'),
    payout_waits_until: Instant.nullable().describe('Until when the payout waits for that reason'),
    contested_at: Instant.nullable().describe(
      'Since when the payment is contested: another request named the same transfer. Nobody can act on the order',
    ),
    contest_ends_at: Instant.nullable().describe(
      'When a contested payment is refunded to its payer; null when an arbiter decides',
    ),
    paid_at: Instant.nullable(),
    deliver_by: Instant.nullable(),
    delivered_at: Instant.nullable(),
    review_ends_at: Instant.nullable().describe('When the order completes automatically'),
    complaint: z.string().nullable().describe('The feedback of a revision or the reason of a dispute'),
    closed_at: Instant.nullable(),
    outcome: z.enum(['released', 'refunded', 'split', 'unpaid']).nullable(),
    created_at: Instant,
    updated_at: Instant,
  }),
)

export const ListedOrder = named('ListedOrder', Order.extend({ agent: ListedAgent }))

/** An order with the ways to pay it. */
export const PayableOrder = named(
  'PayableOrder',
  Order.extend({
    payment: z
      .array(SignablePaymentOption)
      .describe('One entry per network on which the agent can be paid; empty if there is nothing to pay'),
  }),
)

export const Deliverable = z.object({
  type: z.enum(['image', 'video', 'link', 'document', 'code', 'text']),
  url: z.string().nullable(),
  content: z.string().nullable(),
  media_type: z.string().nullable(),
  sha256: z.string().nullable(),
  title: z.string().nullable(),
})

/** One request in a workspace, with the agent’s deliverable. */
export const Generation = named(
  'Generation',
  z.object({
    id: z.string().describe('Deliverable id, dlv_…'),
    prompt: z.string(),
    status: z.enum(['pending', 'completed', 'failed']),
    deliverable: Deliverable.nullable().describe('null unless `completed`'),
    failure: z.string().nullable().describe('Why it failed'),
    deadline: Instant.describe('Until when the agent can answer'),
    created_at: Instant,
    ended_at: Instant.nullable(),
  }),
)

export const GenerationResult = z.object({
  deliverable: Generation,
  quota_used: z.int().describe('Generations that are completed or pending'),
  quota_total: z.int(),
})

export const DeliverableId = resourceId('dlv', 'a deliverable')

export const generationFields = {
  prompt: text({ min: 1, max: 4000 }),
  wait_seconds: z.int().min(0).max(25).default(0).describe('How long to wait for the agent'),
}

const MediaType = z
  .string()
  .regex(/^[a-z]{1,20}\/[a-z0-9.+-]{1,100}$/, 'must be a media type such as image/png')

export const DeliverableInput = z
  .strictObject({
    type: z.enum(['image', 'video', 'link', 'document', 'code', 'text']),
    url: FileLink.optional(),
    content: text({ min: 1, max: 100_000 }).optional().describe('For text and code'),
    media_type: MediaType.optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')
      .optional(),
    title: line({ min: 1, max: 200 }).optional(),
  })
  .refine(
    (item) => item.url !== undefined || item.content !== undefined,
    'must have a url or, for text and code, content',
  )
  .refine(
    (item) => item.content === undefined || item.type === 'text' || item.type === 'code',
    'can have content only if type is text or code',
  )

export const deliveryFields = {
  deliverable_url: FileLink.optional().describe('A single deliverable: an upload id or an https URL'),
  deliverable_media_type: MediaType.optional(),
  deliverables: z.array(DeliverableInput).min(1).max(20).optional(),
  note: text({ min: 1, max: 2000 }).optional(),
}

const MAX_ANSWER_LENGTH = 2_000
/** One for each requirement field of a service, and 20 that it does not ask for. */
const MAX_ANSWERS = 32

const isCleanJson = (value: unknown): boolean => {
  if (typeof value === 'string') return isCleanText(value)
  if (Array.isArray(value)) return value.every(isCleanJson)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isCleanText(key) && isCleanJson(inner))
}

const Answer = z.union(
  [
    text({ max: MAX_ANSWER_LENGTH }),
    z.number(),
    z.boolean(),
    z
      .unknown()
      .refine(
        (value) =>
          typeof value === 'object' &&
          value !== null &&
          JSON.stringify(value).length <= MAX_ANSWER_LENGTH &&
          isCleanJson(value),
      ),
  ],
  `must be text, a number, a boolean, a list or an object, of at most ${MAX_ANSWER_LENGTH} characters without control or invisible characters`,
)

export const orderFields = {
  service_id: ServiceId,
  // fix: brief-optional
  brief: text({ min: 10, max: 3000 }).optional().describe('What the agent is to do'),
  reference_urls: z.array(FileLink).max(5).default([]),
  reference_images: z.array(FileLink).max(3).default([]),
  requirement_answers: z
    .record(text({ min: 1, max: 80 }), Answer)
    .refine(
      (answers) => Object.keys(answers).length <= MAX_ANSWERS,
      `must have at most ${MAX_ANSWERS} answers`,
    )
    .default({})
    .describe(
      'Keyed by the labels of the service’s requirement fields. Other keys are passed on to the agent',
    ),
}
