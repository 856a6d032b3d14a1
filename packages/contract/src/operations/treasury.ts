import { z } from 'zod'
import { named, operation, READ_BY_OPERATORS, WRITE_BY_OPERATORS } from '../define.ts'
import { Approval, OutgoingId, PayoutId, Reason, UnmatchedId } from '../schemas/approval.ts'
import { Instant, NextCursor, pageFields } from '../schemas/common.ts'
import { HoldCode } from '../schemas/hold-code.ts'
import { NetworkName, UsdText } from '../schemas/money.ts'
import { text } from '../schemas/text.ts'

/** Final and withdrawn payouts are not listed. */
const LISTED_STATES = ['queued', 'held', 'signed', 'failed'] as const

type ListedState = (typeof LISTED_STATES)[number]

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
    oldest_seconds: z.int().describe('Age of the oldest payout that is under way and not held'),
    held: z
      .int()
      .describe('Waiting payouts that cannot be sent until something changes; `hold_code` says what'),
    failed: z.int().describe('Payouts that an operator or the agent must retry'),
    balance_usd: UsdText.describe('What the treasury must hold according to the ledger'),
    hot_max_usd: UsdText.nullable().describe('The most that it should hold; null without a limit'),
    above_hot_max_usd: UsdText.describe('What it holds above that. Propose `move_to_cold`'),
    cold_address: z.string().nullable().describe('Null on a network without one'),
    cold_usd: UsdText.describe('What was moved to the cold address, including moves that are not final'),
    fees_usd: UsdText.describe('The platform’s revenue that was not withdrawn'),
    fees_available_usd: UsdText.describe(
      'What can be withdrawn: without the amount of payments that are not final',
    ),
    fees_withdrawn_usd: UsdText.describe('Fee withdrawals that are final'),
    unjustified: z
      .int()
      .describe(
        'Payouts that the ledger or their order does not justify. They are never signed; find out who wrote them',
      ),
  }),
)

const Unmatched = named(
  'UnmatchedMoney',
  z.object({
    id: z.string().describe('`kind`, network and transaction'),
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
    claims: z
      .array(z.object({ wallet: z.string(), note: z.string(), created_at: Instant }))
      .describe(
        'Wallets that ask for it and did not send it, oldest first; they signed, but nothing else is proven',
      ),
  }),
)

const Payout = named(
  'Payout',
  z.object({
    id: z.string(),
    kind: z.enum([
      'payout',
      'refund',
      'surplus',
      'fee_withdrawal',
      'move_to_cold',
      'move_to_venue',
      'earn_withdrawal',
    ]),
    subject: z.string().describe('What it pays for'),
    network: NetworkName,
    payee: z.string().nullable().describe('Null while no address is known'),
    amount_usd: UsdText,
    state: z.enum([...LISTED_STATES, 'final', 'withdrawn']),
    hold_code: HoldCode.nullable().describe('Why it waits; null when it does not wait'),
    reason: z.string().nullable().describe('Why it is held, failed or withdrawn, as a sentence'),
    round: z.int().describe('Starts at 1; each retry adds 1'),
    created_at: Instant,
    updated_at: Instant,
    tx_hash: z
      .string()
      .nullable()
      .describe(
        'The final transaction or, before that, the one that the chain shows or, on Solana, that was signed last',
      ),
  }),
)

const outgoingFields = {
  id: z.string().describe('Network and transaction, with `.index` of a later payment of the transaction'),
  network: NetworkName,
  reference: z.string(),
  payout_id: z
    .string()
    .nullable()
    .describe('The payout that the payment names; null when it names none that is known'),
  payee: z.string().nullable(),
  amount_usd: UsdText,
  happened_at: Instant,
}

const Unexplained = named('UnexplainedTransfer', z.object(outgoingFields))

export const getTreasury = operation({
  id: 'getTreasury',
  ...READ_BY_OPERATORS,
  position: 20,
  method: 'GET',
  path: '/api/admin/treasury',
  summary: 'Get the treasury status',
  input: z.strictObject({}),
  output: z.array(Treasury),
})

export const listUnmatched = operation({
  id: 'listUnmatched',
  ...READ_BY_OPERATORS,
  position: 70,
  method: 'GET',
  path: '/api/admin/unmatched-transfers',
  summary: 'List unmatched transfers',
  description:
    'Oldest first. `suspense`: money of a transfer that paid for nothing. `surplus`: money above the amount due.',
  input: z.strictObject({ ...pageFields }),
  output: z.array(Unmatched),
  beside: NextCursor,
})

export const listPayouts = operation({
  id: 'listPayouts',
  ...READ_BY_OPERATORS,
  position: 50,
  method: 'GET',
  path: '/api/admin/payouts',
  summary: 'List payouts',
  description:
    'Oldest first. Without `state`, lists held and failed payouts. Final and withdrawn payouts are not listed.',
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
})

export const listUnexplained = operation({
  id: 'listUnexplained',
  ...READ_BY_OPERATORS,
  position: 100,
  method: 'GET',
  path: '/api/admin/outgoing-transfers',
  summary: 'List unexplained outgoing transfers',
  description:
    'Final payments out of the treasuries that belong to no payout and were neither written off nor paired, oldest first. A payment that became final a moment ago is listed until its payout is final, too.',
  input: z.strictObject({ ...pageFields }),
  output: z.array(Unexplained),
  beside: NextCursor,
})

export const refundTransfer = operation({
  id: 'refundTransfer',
  ...WRITE_BY_OPERATORS,
  position: 80,
  method: 'POST',
  path: '/api/admin/unmatched-transfers/{unmatched_id}/refund',
  summary: 'Refund unmatched money',
  description: 'To its payer. To refund to another address, or without a payer, propose `refund_unmatched`.',
  input: z.strictObject({ unmatched_id: UnmatchedId, reason: Reason }),
  output: Payout,
  errors: { 404: ['not_found'], 409: ['approval_required', 'below_minimum'] },
})

export const claimRefund = operation({
  id: 'claimRefund',
  group: 'Orders',
  position: 150,
  method: 'POST',
  path: '/api/unmatched-transfers/{unmatched_id}/refund',
  summary: 'Get unmatched money back',
  description:
    'For USDC that reached the treasury and paid for nothing (`suspense`) or was more than the amount due (`surplus`). Signed by the wallet that sent it, or by a user to whom that wallet is linked, the money goes back to that wallet. Signed by another wallet, because an exchange sent it, the claim waits for two operators (202); then `note` must say how you can prove it.',
  callers: ['wallet', 'user'],
  limit: 'write',
  input: z.strictObject({
    unmatched_id: UnmatchedId,
    note: text({ min: 1, max: 1000 })
      .optional()
      .describe('Required when another wallet sent the money: exchange, withdrawal id, account'),
  }),
  output: z.object({
    id: z.string(),
    status: z.enum(['refunding', 'waits_for_operators']),
    amount_usd: UsdText.nullable().describe('Null while the claim waits for operators'),
    network: NetworkName,
    payee: z.string().describe('Where the money goes, or would go when operators approve'),
  }),
  laterStatus: 202,
  purpose: 'unmatched-transfers.refund:{unmatched_id}',
  errors: { 403: ['wrong_wallet'], 404: ['not_found'], 409: ['below_minimum', 'too_many_claims'] },
})

export const recognizeTransfer = operation({
  id: 'recognizeTransfer',
  ...WRITE_BY_OPERATORS,
  position: 90,
  method: 'POST',
  path: '/api/admin/unmatched-transfers/{unmatched_id}/recognize-revenue',
  summary: 'Propose to recognize a transfer as revenue',
  description:
    'Creates a proposal of the kind `recognize_revenue`. When another operator approves it, the transfer moves from suspense to the fees. Only for transfers from a wallet in `<NETWORK>_OWN_WALLETS`.',
  input: z.strictObject({ unmatched_id: UnmatchedId, reason: Reason }),
  output: Approval,
  status: 201,
  errors: { 404: ['not_found'], 409: ['not_our_wallet'] },
})

export const writeOffTransfer = operation({
  id: 'writeOffTransfer',
  ...WRITE_BY_OPERATORS,
  position: 110,
  method: 'POST',
  path: '/api/admin/outgoing-transfers/{transfer_id}/write-off',
  summary: 'Write off an outgoing transfer',
  description:
    'Posts an unexplained payment as a loss, which the fees of the network must cover. To charge it to the money that paid for its order, propose `pair_transfer`.',
  input: z.strictObject({ transfer_id: OutgoingId, reason: Reason }),
  output: z.object({ ...outgoingFields, written_off_at: Instant }),
  errors: { 404: ['not_found'] },
})

export const retryAnyPayout = operation({
  id: 'retryAnyPayout',
  ...WRITE_BY_OPERATORS,
  position: 60,
  method: 'POST',
  path: '/api/admin/payouts/{payout_id}/retry',
  summary: 'Retry a failed payout',
  description: 'Pays the same address again. To pay another one, propose `redirect_payout`.',
  input: z.strictObject({ payout_id: PayoutId, reason: Reason }),
  output: Payout,
  errors: { 404: ['not_found'], 409: ['approval_required'] },
})
