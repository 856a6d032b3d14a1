import { z } from 'zod'
import { named, operation } from '../define.ts'
import { Instant, NextCursor, pageFields, WalletAddress } from '../schemas/common.ts'
import { NetworkName, UsdText } from '../schemas/money.ts'
import { line } from '../schemas/text.ts'

/** Payouts that are not over; those that are stand in the books and on the chain. */
const OPEN_STATES = ['queued', 'held', 'numbered', 'signed', 'failed'] as const

type OpenState = (typeof OPEN_STATES)[number]

const Reason = line({ min: 3, max: 500 }).describe('Why; it is written into the audit log')

const Reference = z
  .string()
  .regex(
    /^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/,
    'must be a transaction hash (0x…) or a Solana signature',
  )
  .describe('Transaction hash (0x…) or Solana signature')

const Payee = WalletAddress.describe('A wallet on the network: on EVM with its checksum (EIP-55)')

const PayoutId = z.string().regex(/^pay_[0-9a-z]{32}$/, 'must be the id of a payout')

const Treasury = named(
  'Treasury',
  z.object({
    network: NetworkName,
    open: z.boolean().describe('Whether payouts may leave: compared with the chain, not short, not frozen'),
    compared_at: Instant.nullable().describe(
      'Since when all that left before the database came up is known; null while it is not',
    ),
    short_usd: UsdText.describe('By how much the treasury holds less than it must'),
    short_since: Instant.nullable(),
    waiting: z.int().describe('Payouts that were asked for and have not ended'),
    oldest_seconds: z.int().describe('For how long the oldest of them has waited'),
    held: z.int().describe('Of those waiting: something must change before they leave'),
    failed: z.int().describe('Payouts that a person must look at'),
  }),
)

const Unmatched = named(
  'UnmatchedMoney',
  z.object({
    network: NetworkName,
    reference: z.string(),
    payer: z.string().nullable().describe('Whose it is; null where only the transaction itself can tell'),
    kind: z.enum(['suspense', 'surplus']),
    amount_usd: UsdText.describe('What is still here'),
    state: z.enum(['seen', 'final', 'gone']).describe('Only of what is `final` may be disposed'),
    happened_at: Instant,
    purpose: z.string().nullable().describe('What the transfer paid for; null while nobody has claimed it'),
  }),
)

const Payout = named(
  'Payout',
  z.object({
    id: z.string(),
    kind: z.enum(['payout', 'refund', 'surplus']),
    subject: z.string().describe('What it is paid for'),
    network: NetworkName,
    payee: z.string().nullable().describe('Null while nobody knows where to pay it'),
    amount_usd: UsdText,
    state: z.enum([...OPEN_STATES, 'final', 'withdrawn']),
    reason: z.string().nullable().describe('Why it is held or has failed'),
    round: z.int().describe('Each retry begins another'),
    created_at: Instant,
    updated_at: Instant,
    tx_hash: z.string().nullable().describe('By which it was paid or, not being final, was signed last'),
  }),
)

const sendingFields = {
  network: NetworkName,
  reference: z.string(),
  payout_id: z.string().nullable().describe('The payout it says it is'),
  payee: z.string().nullable(),
  amount_usd: UsdText,
  happened_at: Instant,
}

const Unexplained = named('UnexplainedTransfer', z.object(sendingFields))

export const getTreasury = operation({
  id: 'getTreasury',
  group: 'Administration',
  method: 'GET',
  path: '/api/admin/treasury',
  summary: 'Read how the treasuries and their payouts stand',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.array(Treasury),
  errors: [403],
})

export const listUnmatched = operation({
  id: 'listUnmatched',
  group: 'Administration',
  method: 'GET',
  path: '/api/admin/unmatched',
  summary: 'Read what arrived and belongs to nothing',
  description:
    'Oldest first. `suspense`: nobody has claimed it, or others paid it beside a claimed payment. `surplus`: it was paid beyond what was due.',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({ ...pageFields }),
  output: z.array(Unmatched),
  beside: NextCursor,
  errors: [403],
})

export const listPayouts = operation({
  id: 'listPayouts',
  group: 'Administration',
  method: 'GET',
  path: '/api/admin/payouts',
  summary: 'Read the payouts that are not over',
  description: 'Oldest first; without `state` those that are held or have failed.',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({
    state: z
      .string()
      .max(100)
      .refine(
        (list) => list.split(',').every((one) => OPEN_STATES.some((known) => known === one)),
        `must be a list of ${OPEN_STATES.join(', ')}`,
      )
      .transform((list) => list.split(',') as OpenState[])
      .optional()
      .describe(`Only these, separated by commas: ${OPEN_STATES.join(', ')}`),
    network: NetworkName.optional(),
    ...pageFields,
  }),
  output: z.array(Payout),
  beside: NextCursor,
  errors: [403],
})

export const listUnexplained = operation({
  id: 'listUnexplained',
  group: 'Administration',
  method: 'GET',
  path: '/api/admin/unexplained',
  summary: 'Read what left the treasuries and settles no payout',
  description:
    'Final payments, oldest first, that are not booked as a loss. One that became final a moment ago stands here until its payout is settled.',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({ ...pageFields }),
  output: z.array(Unexplained),
  beside: NextCursor,
  errors: [403],
})

export const giveBackTransfer = operation({
  id: 'giveBackTransfer',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/transfers/give-back',
  summary: 'Send back what a transfer left in suspense or as surplus',
  description:
    'It goes to whoever paid; say `payee` only where `payer` is null. Asked again it is the same payout.',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({
    network: NetworkName,
    reference: Reference,
    from: z.enum(['suspense', 'surplus']),
    payee: Payee.optional(),
    reason: Reason,
  }),
  output: Payout,
  errors: [403, 404, 409],
})

export const keepTransfer = operation({
  id: 'keepTransfer',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/transfers/keep',
  summary: 'Keep a transfer that the platform itself made',
  description: 'From suspense to the fees: only for what is the platform’s own.',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({ network: NetworkName, reference: Reference, reason: Reason }),
  output: z.object({ network: NetworkName, reference: z.string(), kept_usd: UsdText }),
  errors: [403, 404, 409],
})

export const writeOffTransfer = operation({
  id: 'writeOffTransfer',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/outgoing/book',
  summary: 'Book a payment nobody can explain as a loss of the platform',
  description: 'The fees of the network must cover it. Asked again nothing is booked twice.',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({ network: NetworkName, reference: Reference, reason: Reason }),
  output: z.object({ ...sendingFields, written_off_at: Instant }),
  errors: [403, 404, 409],
})

export const retryAnyPayout = operation({
  id: 'retryAnyPayout',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/payouts/{payout_id}/retry',
  summary: 'Try a failed payout again, to the same payee or to another one',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({ payout_id: PayoutId, payee: Payee.optional(), reason: Reason }),
  output: Payout,
  errors: [403, 404, 409],
})
