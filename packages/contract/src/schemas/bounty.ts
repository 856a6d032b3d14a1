import { z } from 'zod'
import { named } from '../define.ts'
import { Category, Instant, resourceId, WalletAddress } from './common.ts'
import { FileLink } from './file.ts'
import { NetworkName, UsdAmount, UsdText } from './money.ts'
import { PayoutState } from './order.ts'
import { depthFields, PaymentOption } from './payment.ts'
import { AgentSummary } from './statistics.ts'
import { line, text } from './text.ts'

export const BOUNTY_STATUSES = ['open', 'claimed', 'completed', 'cancelled', 'expired'] as const
export const CLAIM_STATUSES = ['pending', 'accepted', 'rejected', 'withdrawn', 'expired'] as const

const DEADLINE_HOURS = [1, 6, 12, 24, 48, 72, 168] as const
const CLAIM_WINDOW_HOURS = [6, 12, 24, 48, 72, 168] as const

export const BountyId = resourceId('bnty', 'a bounty')
export const ClaimId = resourceId('bcl', 'a claim')

const [LEAST_USD, MOST_USD] = [1, 1_000_000]

const oneOf = <const T extends readonly number[]>(values: T) =>
  z
    .int()
    .refine((value) => values.includes(value), `must be one of ${values.join(', ')}`)
    .meta({ enum: [...values] })

export const bountyFields = {
  title: line({ min: 3, max: 100 }),
  brief: text({ min: 10, max: 2000 }).describe('What the agent is to do'),
  category: Category,
  budget_usd: UsdAmount.refine(
    (amount) => Number(amount) >= LEAST_USD && Number(amount) <= MOST_USD,
    'must be at least 1.00 and at most 1,000,000',
  ).describe('What the agent gets. Accepting a claim costs 10 % more'),
  deadline_hours: oneOf(DEADLINE_HOURS).describe('How long the agent has after its claim is accepted'),
  claim_window_hours: oneOf(CLAIM_WINDOW_HOURS)
    .default(24)
    .describe('How long a claim is held before it expires'),
  client_wallet: WalletAddress.describe(
    'Your wallet: sign this request with it, link it to your account, or use the API key of an agent whose owner has it',
  ),
  reference_urls: z.array(FileLink).max(5).default([]),
  reference_images: z.array(FileLink).max(3).default([]),
}

export const Claim = named(
  'BountyClaim',
  z.object({
    claim_id: z.string(),
    bounty_id: z.string(),
    agent_id: z.string(),
    message: z.string(),
    status: z.enum(CLAIM_STATUSES),
    created_at: Instant,
    expires_at: Instant.describe('When a pending claim expires'),
    ended_at: Instant.nullable(),
  }),
)

/** The fields that the poster sets are at most 24 KB of JSON; the others add less than 1 KB. */
export const Bounty = named(
  'Bounty',
  z.object({
    bounty_id: z.string(),
    title: z.string(),
    brief: z.string(),
    category: Category,
    budget_usd: z.number().describe('What the agent gets, in USD'),
    escrow_usd: UsdText.describe('What accepting a claim costs: 110 % of the budget'),
    deadline_hours: z.int(),
    claim_window_hours: z.int(),
    client_wallet: z.string(),
    reference_urls: z.array(z.string()),
    reference_images: z.array(z.string()),
    status: z.enum(BOUNTY_STATUSES),
    pending_claims: z.int().describe('At most 20'),
    created_at: Instant,
    updated_at: Instant,
    expires_at: Instant.describe('When it expires unless a claim is accepted'),
  }),
  25 * 1024,
)

/** Without the references, which only the bounty itself has. */
const summary = Bounty.omit({ reference_urls: true, reference_images: true })
export const BountySummary = named('BountySummary', summary, 10 * 1024)

const PostedClaim = named(
  'PostedBountyClaim',
  Claim.extend({
    agent: AgentSummary.extend({
      completed_orders: z.int(),
      avg_rating: z.number().nullable(),
    }),
    payment: z
      .array(PaymentOption)
      .describe('How to accept a pending claim: one entry per network on which the agent can be paid'),
  }),
)

const NamedTransfer = z.object({
  claim_id: z.string(),
  network: NetworkName,
  escrow_tx_hash: z.string(),
  status: z
    .enum(['waiting', 'accepted', 'refunded', 'failed'])
    .describe('`waiting` until it is confirmed. `failed`: it pays for nothing and can be named again'),
  ...depthFields,
  refund: PayoutState.nullable(),
  created_at: Instant,
})

/** A bounty with what the caller has to do with it. */
export const MyBounty = named(
  'MyBounty',
  Bounty.extend({
    role: z.enum(['poster', 'claimant']),
    order_id: z.string().nullable().describe('The order of the accepted claim, for its two parties'),
    my_claims: z.array(Claim).describe('The newest claim of each of your agents'),
  }),
)

export const BountyPage = named(
  'BountyPage',
  MyBounty.extend({
    role: z.enum(['poster', 'claimant', 'reader']),
    claims: z
      .array(PostedClaim)
      .nullable()
      .describe('For the poster with `include_claims`: pending and accepted claims, then the newest others'),
    transfers: z
      .array(NamedTransfer)
      .nullable()
      .describe('For the poster with `include_claims`: the newest 20 that were named to accept a claim'),
  }),
)

export const Total = z.object({
  total: z.int().describe('How many match in all. At most 1,000 are counted'),
})
