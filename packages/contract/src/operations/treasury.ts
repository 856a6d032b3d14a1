import { z } from 'zod'
import { named, operation } from '../define.ts'
import { Instant, NextCursor, pageFields, WalletAddress } from '../schemas/common.ts'
import { NetworkName, UsdText } from '../schemas/money.ts'
import { line } from '../schemas/text.ts'

/** Final and withdrawn payouts are not listed. */
const LISTED_STATES = ['queued', 'held', 'nonce_assigned', 'signed', 'failed'] as const

type ListedState = (typeof LISTED_STATES)[number]

const HOLD_CODES = [
  'not_compared',
  'not_counted',
  'treasury_short',
  'payouts_frozen',
  'network_frozen',
  'fee_above_cap',
  'fee_balance_low',
  'not_before',
  'payment_not_final',
  'payout_cap',
  'daily_cap',
  'balance_low',
  'history_unread',
  'nonce_mismatch',
  'transfer_mismatch',
  'nonce_reserved',
  'nonce_used',
  'broadcast_error',
  'no_address',
  'other',
] as const

const Reason = line({ min: 3, max: 500 }).describe('Why you do this; stored in the audit log')

const Reference = z
  .string()
  .regex(
    /^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/,
    'must be a transaction hash (0x…) or a Solana signature',
  )
  .describe('Transaction hash (0x…) or Solana signature')

const Payee = WalletAddress.describe('A wallet on the network; on EVM with its EIP-55 checksum')

const PayoutId = z.string().regex(/^pay_[0-9a-z]{32}$/, 'must be a payout id: pay_ and 32 letters or digits')

const Treasury = named(
  'Treasury',
  z.object({
    network: NetworkName,
    open: z
      .boolean()
      .describe('Whether payouts may be sent: compared with the chain, counted, not short and not frozen'),
    compared_at: Instant.nullable().describe(
      'Since when all outgoing transfers from before the last database start are known; null while they are not',
    ),
    short_usd: UsdText.describe('By how much the treasury holds less than it owes'),
    short_since: Instant.nullable(),
    waiting: z.int().describe('Payouts that were requested and have not ended'),
    oldest_seconds: z.int().describe('Age of the oldest waiting payout'),
    held: z
      .int()
      .describe('Waiting payouts that cannot be sent until something changes; `hold_code` says what'),
    failed: z.int().describe('Payouts that an operator or the agent must retry'),
  }),
)

const Unmatched = named(
  'UnmatchedMoney',
  z.object({
    network: NetworkName,
    reference: z.string(),
    payer: z.string().nullable().describe('Null when only the transaction itself shows who paid'),
    kind: z.enum(['suspense', 'surplus']),
    amount_usd: UsdText.describe('The amount that is still in the account'),
    state: z
      .enum(['seen', 'final', 'gone'])
      .describe('Only a `final` transfer can be refunded or recognized'),
    happened_at: Instant,
    purpose: z.string().nullable().describe('What the transfer paid for; null while it is unclaimed'),
  }),
)

const Payout = named(
  'Payout',
  z.object({
    id: z.string(),
    kind: z.enum(['payout', 'refund', 'surplus']),
    subject: z.string().describe('What it pays for'),
    network: NetworkName,
    payee: z.string().nullable().describe('Null while no address is known'),
    amount_usd: UsdText,
    state: z.enum([...LISTED_STATES, 'final', 'withdrawn']),
    hold_code: z.enum(HOLD_CODES).nullable().describe('Why it waits; null when it does not wait'),
    reason: z.string().nullable().describe('Why it is held, failed or withdrawn, as a sentence'),
    round: z.int().describe('Starts at 1; each retry adds 1'),
    created_at: Instant,
    updated_at: Instant,
    tx_hash: z
      .string()
      .nullable()
      .describe('The final transaction or, before that, the last one that was signed'),
  }),
)

const outgoingFields = {
  network: NetworkName,
  reference: z.string(),
  payout_id: z.string().nullable().describe('The payout id that the transaction contains'),
  payee: z.string().nullable(),
  amount_usd: UsdText,
  happened_at: Instant,
}

const Unexplained = named('UnexplainedTransfer', z.object(outgoingFields))

export const getTreasury = operation({
  id: 'getTreasury',
  group: 'Administration',
  method: 'GET',
  path: '/api/admin/treasury',
  summary: 'Get the treasury status',
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
  path: '/api/admin/transfers/unmatched',
  summary: 'List unmatched transfers',
  description:
    'Oldest first. `suspense`: money of a transfer that paid for nothing, or that others sent in the same transaction. `surplus`: money above the amount due.',
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
  summary: 'List payouts',
  description:
    'Oldest first. Without `state`, lists held and failed payouts. Final and withdrawn payouts are not listed.',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({
    state: z
      .string()
      .max(100)
      .refine(
        (list) => list.split(',').every((one) => LISTED_STATES.some((known) => known === one)),
        `must be a comma-separated list of ${LISTED_STATES.join(', ')}`,
      )
      .transform((list) => list.split(',') as ListedState[])
      .optional()
      .describe(`Comma-separated list of ${LISTED_STATES.join(', ')}`),
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
  path: '/api/admin/outgoing-transfers/unexplained',
  summary: 'List unexplained outgoing transfers',
  description:
    'Final payments out of the treasuries that belong to no payout and were not written off, oldest first. A payment that became final a moment ago is listed until its payout is final, too.',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({ ...pageFields }),
  output: z.array(Unexplained),
  beside: NextCursor,
  errors: [403],
})

export const refundTransfer = operation({
  id: 'refundTransfer',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/transfers/refund',
  summary: 'Refund a transfer',
  description:
    'Pays the money that a transfer left in `suspense` or `surplus` back to its payer. Set `payee` only when `payer` is null. A repeated request returns the same payout.',
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

export const recognizeTransfer = operation({
  id: 'recognizeTransfer',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/transfers/recognize',
  summary: 'Recognize a transfer as revenue',
  description:
    'Moves an unclaimed transfer from suspense to the fees. Only for transfers that the platform itself made.',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({ network: NetworkName, reference: Reference, reason: Reason }),
  output: z.object({ network: NetworkName, reference: z.string(), recognized_usd: UsdText }),
  errors: [403, 404, 409],
})

export const writeOffTransfer = operation({
  id: 'writeOffTransfer',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/outgoing-transfers/write-off',
  summary: 'Write off an outgoing transfer',
  description:
    'Posts an unexplained payment as a loss of the platform. The fees of the network must cover it. A repeated request posts nothing.',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({ network: NetworkName, reference: Reference, reason: Reason }),
  output: z.object({ ...outgoingFields, written_off_at: Instant }),
  errors: [403, 404, 409],
})

export const retryAnyPayout = operation({
  id: 'retryAnyPayout',
  group: 'Administration',
  method: 'POST',
  path: '/api/admin/payouts/{payout_id}/retry',
  summary: 'Retry a failed payout',
  description: 'Set `payee` to pay another address. A payout without a payee needs one.',
  callers: ['admin'],
  limit: 'write',
  input: z.strictObject({ payout_id: PayoutId, payee: Payee.optional(), reason: Reason }),
  output: Payout,
  errors: [403, 404, 409],
})
