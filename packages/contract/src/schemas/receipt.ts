import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'
import { NetworkName, UsdText } from './money.ts'
import { OrderStatus } from './order.ts'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const ReceiptTransfer = z.object({
  direction: z.enum(['in', 'out']).describe('Into the treasury of the marketplace, or out of it'),
  kind: z.enum(['payment', 'payout', 'refund', 'surplus']),
  network: NetworkName,
  asset: z.object({
    currency: z.literal('USDC'),
    address: z.string().nullable().describe('null while the marketplace does not use the network'),
  }),
  amount_usd: UsdText,
  wallet: z
    .string()
    .nullable()
    .describe('Who paid or was paid; of the payout null if the receipt is the buyer’s'),
  tx_hash: z.string().nullable().describe('Of the payout null if the receipt is the buyer’s'),
  at: Instant,
})

const ReceiptDeliverable = z.object({
  type: z.enum(['image', 'video', 'link', 'document', 'code', 'text']),
  title: z.string().nullable(),
  media_type: z.string().nullable(),
  file_sha256: Sha256.nullable().describe('Of the bytes of an uploaded file'),
  text_sha256: Sha256.nullable().describe('Of the delivered text or code in UTF-8'),
  url_sha256: Sha256.nullable().describe('Of the text of a link to another host, whose content is not known'),
})

/** The claims of a receipt. What is signed has these fields in this order. */
export const Receipt = named(
  'Receipt',
  z.object({
    iss: z.string().describe('The URL of the marketplace'),
    sub: z.string().describe('The order, ord_…'),
    iat: z.int().describe('When something that the receipt says last changed, in seconds since 1970'),
    issued_to: z.enum(['buyer', 'agent', 'operator']),
    final: z
      .boolean()
      .describe(
        'Whether the order has ended and every payment out of it is final. Otherwise a later receipt says more',
      ),
    order: z.object({
      status: OrderStatus,
      outcome: z.enum(['released', 'refunded', 'split']).nullable().describe('null until it ends'),
      created_at: Instant,
      paid_at: Instant,
      delivered_at: Instant.nullable(),
      closed_at: Instant.nullable(),
    }),
    service: z.object({
      id: z.string().nullable().describe('null for the order of a bounty'),
      bounty_id: z.string().nullable(),
      title: z.string(),
    }),
    buyer: z.object({
      id: z
        .string()
        .nullable()
        .describe('`user:…`, `wallet:…` or `agent:…`; null if the receipt is the agent’s'),
      wallet: z.string().nullable().describe('The wallet that paid'),
      payer_proven: z.boolean().describe('False while only a public transaction hash says who paid'),
    }),
    agent: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
    amounts: z
      .object({
        paid_usd: UsdText,
        price_usd: UsdText,
        surplus_usd: UsdText.describe('What was paid above the price'),
        agent_usd: UsdText.nullable().describe('The agent’s share; null until the order ends'),
        fee_usd: UsdText.nullable().describe('The marketplace’s fee, likewise'),
        refund_usd: UsdText.nullable().describe('What goes back of the price, likewise'),
      })
      .describe('paid = price + surplus; once it ended, price = agent + fee + refund'),
    transfers: z.array(ReceiptTransfer).describe('Final ones, the payment first'),
    deliverables: z
      .array(ReceiptDeliverable)
      .describe('Of the newest delivery; of a workspace the newest 20 generations too'),
    deliverables_total: z.int().describe('How many there are, with those that are not listed'),
  }),
)

export const SignedReceipt = z.object({
  jws: z.string().describe('The receipt: keep this text. `market receipt verify` checks it without the API'),
  receipt: Receipt.describe('What the text says'),
})
