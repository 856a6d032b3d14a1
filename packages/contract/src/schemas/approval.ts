import { z } from 'zod'
import { named } from '../define.ts'
import { Instant, WalletAddress } from './common.ts'
import { NetworkName, UsdAmount, UsdPrice } from './money.ts'
import { OrderId } from './order.ts'
import { line, text } from './text.ts'
import { SolanaTransaction } from './wallet.ts'

export const Reason = line({ min: 3, max: 500 }).describe('Why you do this; stored in the audit log')

export const Payee = WalletAddress.describe('A wallet on the network; on EVM with its EIP-55 checksum')

export const PayoutId = z
  .string()
  .regex(/^pay_[0-9a-z]{32}$/, 'must be a payout id: pay_ and 32 letters or digits')

const TRANSACTION = '(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})'
const NETWORK = '(solana|base|alt)-mainnet'

export const UnmatchedId = z
  .string()
  .regex(
    new RegExp(`^(suspense|surplus):${NETWORK}:${TRANSACTION}(\\.[1-9][0-9]{0,3})?$`),
    'must be suspense or surplus, the network and the transaction, as in suspense:base-mainnet:0x… or, for its second transfer, suspense:base-mainnet:0x….1',
  )
  .describe(
    '`suspense` or `surplus`, the network and the transaction: `suspense:base-mainnet:0x…`, with `.1` for its second transfer to the treasury',
  )

const SuspenseId = z
  .string()
  .regex(
    new RegExp(`^suspense:${NETWORK}:${TRANSACTION}(\\.[1-9][0-9]{0,3})?$`),
    'must be suspense, the network and the transaction, as in suspense:base-mainnet:0x…',
  )
  .describe('`suspense`, the network and the transaction: `suspense:base-mainnet:0x…`')

export const OutgoingId = z
  .string()
  .regex(
    new RegExp(`^${NETWORK}:${TRANSACTION}(\\.[1-9][0-9]{0,3})?$`),
    'must be the network and the transaction, as in base-mainnet:0x… or, for its second payment, base-mainnet:0x….1',
  )
  .describe(
    'The network and the transaction: `base-mainnet:0x…`, with `.1` for its second payment out of the treasury',
  )

export const verdictFields = {
  outcome: z.enum(['release', 'refund', 'split']),
  agent_share_bps: z.int().min(1).max(9_999).optional(),
  note: text({ min: 3, max: 1000 }).describe('The reason. The buyer can read it.'),
}

/** What can be proposed, and what each kind needs. A further kind is one entry here and one in the handlers. */
export const APPROVAL_PAYLOADS = {
  resolve_dispute: z.strictObject({ order_id: OrderId, ...verdictFields }),
  redirect_payout: z.strictObject({ payout_id: PayoutId, payee: Payee }),
  refund_unmatched: z.strictObject({ unmatched_id: UnmatchedId, payee: Payee }),
  approve_payout: z.strictObject({ payout_id: PayoutId }),
  recognize_revenue: z.strictObject({ unmatched_id: UnmatchedId }),
  pair_transfer: z.strictObject({ transfer_id: OutgoingId, unmatched_id: SuspenseId }),
  withdraw_fees: z.strictObject({ network: NetworkName, amount_usd: UsdPrice, payee: Payee }),
  move_to_cold: z.strictObject({ network: NetworkName, amount_usd: UsdPrice }),
  accept_venue_transfer: z.strictObject({
    venue_transfer_id: z.string().regex(/^emv_[0-9]{1,15}_[0-9a-z]{17}$/, 'must be a venue transfer: emv_…'),
    vault_shares: z.string().regex(/^\d{1,78}$/, 'must be a whole number of the vault’s smallest units'),
    amount_usd: UsdAmount,
  }),
  end_wallet_operation: z
    .strictObject({
      operation_id: z.string().regex(/^wop_[0-9]{1,15}_[0-9a-z]{17}$/, 'must be a wallet operation: wop_…'),
      outcome: z.enum(['done', 'failed']),
      tx_signature: SolanaTransaction.optional().describe('The transaction that took effect. Only with done'),
    })
    .refine(({ outcome, tx_signature }) => (outcome === 'done') === (tx_signature !== undefined), {
      path: ['tx_signature'],
      message: 'must be the transaction that took effect with outcome done, and absent with failed',
    }),
  reverse_creator_fee: z.strictObject({
    creator_fee_id: z.string().regex(/^cfe_[0-9]{1,15}_[0-9a-z]{17}$/, 'must be a creator fee: cfe_…'),
  }),
} as const

export type ApprovalKind = keyof typeof APPROVAL_PAYLOADS
export type ApprovalPayload<Kind extends ApprovalKind> = z.output<(typeof APPROVAL_PAYLOADS)[Kind]>

const KINDS = Object.keys(APPROVAL_PAYLOADS) as [ApprovalKind, ...ApprovalKind[]]

const Kind = z.enum(KINDS)

const schemaOf = (payload: z.ZodType) => {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(payload, { io: 'input' })
  return schema
}

/** Checked by its kind, so that an error names the field; the documentation shows the payload of every kind. */
const AnyPayload = z
  .record(z.string(), z.unknown())
  .meta({ anyOf: Object.values(APPROVAL_PAYLOADS).map(schemaOf) })
  .describe('What the kind needs')

export const NewApproval = z
  .strictObject({ kind: Kind, payload: AnyPayload, reason: Reason })
  .superRefine(({ kind, payload }, ctx) => {
    const { error } = APPROVAL_PAYLOADS[kind].safeParse(payload)
    for (const issue of error?.issues ?? [])
      ctx.addIssue({ code: 'custom', path: ['payload', ...issue.path], message: issue.message })
  })

export const Approval = named(
  'Approval',
  z.object({
    id: z.string(),
    kind: Kind,
    payload: z.record(z.string(), z.unknown()),
    subject: z
      .string()
      .describe('What it is about: an order, a payout, unmatched money, a wallet operation or a creator fee'),
    summary: z.string().describe('What happens when it is approved'),
    reason: z.string(),
    state: z.enum(['pending', 'approved', 'rejected', 'expired']),
    proposer: z.string(),
    approver: z.string().nullable().describe('Never the proposer'),
    rejected_by: z.string().nullable(),
    created_at: Instant,
    expires_at: Instant.describe('24 hours after the proposal; nobody can approve it later'),
    decided_at: Instant.nullable(),
  }),
)

export const ApprovalId = z.string().regex(/^apr_\d{1,15}_[0-9a-z]{17}$/, 'must be an approval id: apr_…')
