import { z } from 'zod'
import { named } from '../define.ts'
import { WalletAddress, WalletChain } from './common.ts'
import { OrderId, OrderStatus, orderFields, SignInstructions } from './order.ts'
import { ServiceId } from './service.ts'
import { text } from './text.ts'

const purchaseFields = {
  service_id: ServiceId,
  brief: text({ min: 0, max: 3000 }).optional().describe('What the agent is to do; required with a payment'),
  requirements: orderFields.requirement_answers,
}

/** What a purchase of a service takes. */
export const PurchaseInput = z.strictObject(purchaseFields)

const IGNORED = 'Accepted and not used with a payment, which names both'

/** `POST /api/orders` with a payment: the same, and the other fields of an order. */
export const PaidOrderInput = z.strictObject({
  ...purchaseFields,
  requirement_answers: orderFields.requirement_answers,
  reference_urls: orderFields.reference_urls,
  reference_images: orderFields.reference_images,
  private: z.boolean().default(false).describe('Keeps the work out of the agent’s portfolio'),
  client_wallet: WalletAddress.optional().describe(IGNORED),
  payment_chain: WalletChain.optional().describe(IGNORED),
})

const placed = {
  order_id: OrderId,
  status: OrderStatus,
  sign: SignInstructions.optional().describe(
    'Only while the payment is contested: what the wallet that paid signs to keep this purchase',
  ),
}
const OrderUrl = z.url().describe('Where to read the order; its access token `t` is the only credential')

export const Purchase = named('Purchase', z.object({ ...placed, status_url: OrderUrl }))

/** The same, as the discovery routes return it. */
export const Resource = named('PurchasedResource', z.object({ ...placed, result_url: OrderUrl }))

/** The body of 202: the payment was sent to the chain and is not confirmed yet. */
export const PendingPurchase = named(
  'PendingPurchase',
  z.object({
    status: z.literal('accepted'),
    payment: z.literal('settlement_pending'),
    transaction: z.string().describe('Send the same request again to get the purchase'),
  }),
)

const challengeFields = {
  accepts: z.array(z.record(z.string(), z.unknown())).describe('One entry for each way to pay'),
  error: z
    .string()
    .regex(/^[a-z0-9_]+$/)
    .describe('Why the payment was not accepted: a stable code'),
  message: z.string().describe('The same in a sentence, with what to do'),
}

/** How a payment is bound to its payer, and what follows when it is not. */
const Proof = named(
  'PaymentProof',
  z.object({
    message: z.string().describe('The rules in words'),
    hash: z
      .object({
        max_age_seconds: z.int(),
        payout_wait_hours: z
          .int()
          .nullable()
          .describe('How long the seller’s payout waits when only the hash is sent; null for a registration'),
        contest_minutes: z
          .int()
          .describe('How long after its block another request without a signature contests the payment'),
        refund_after_days: z
          .int()
          .describe('When a contested payment without a delivery and without a signature is refunded'),
        signature_required_for: z.array(z.string()).describe('Whose transfers need the signature'),
      })
      .describe('A transaction hash alone, in `X-PAYMENT`'),
    signature: z
      .object({ purpose: z.string(), message_url: z.string(), headers: z.array(z.string()) })
      .describe('The hash and a signature of the wallet that paid: nothing waits'),
    reference: z
      .object({ header: z.string(), claim_header: z.string() })
      .describe(
        'The reference of this response in the transfer, and its claim in the request: nothing waits',
      ),
    sign: SignInstructions.optional().describe('With `binding_required`: the exact text to sign'),
  }),
)

/** The body of 402: the payment requirements. */
export const Challenge = named(
  'PaymentChallenge',
  z
    .object({ x402Version: z.literal(1), ...challengeFields, proof: Proof })
    .partial({ error: true, message: true, proof: true }),
)

const filterText = text({ max: 200 }).optional()

const MOST_PER_PAGE = 100

export const directoryFilters = {
  type: filterText,
  payTo: filterText,
  scheme: filterText,
  network: filterText.describe('CAIP-2 or our own name of the network'),
  extensions: filterText,
  limit: z
    .int()
    .min(1)
    .max(999_999_999)
    .default(20)
    .transform((limit) => Math.min(limit, MOST_PER_PAGE))
    .describe('How many to return, at most 100'),
}

const DirectoryItem = z.record(z.string(), z.unknown())

export const DirectoryList = z.object({
  x402Version: z.literal(2),
  items: z.array(DirectoryItem),
  pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int() }),
})

export const DirectorySearch = z.object({
  x402Version: z.literal(2),
  resources: z.array(DirectoryItem),
  pagination: z.object({ limit: z.int(), cursor: z.string().nullable() }),
})
