import { z } from 'zod'
import { named, operation, READ_BY_OPERATORS, WRITE_BY_OPERATORS } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { Instant, NextCursor, pageFields, resourceId } from '../schemas/common.ts'
import { Coins, SolanaTransaction, TokenMode } from '../schemas/wallet.ts'

const CreatorFeeId = resourceId('cfe', 'a creator fee')

const Status = z
  .enum(['accrued', 'settled', 'reversed'])
  .describe(
    '`accrued`: received by the platform. `settled`: the agent’s share was paid. `reversed`: two operators decided that the record was wrong',
  )

const amounts = {
  amount_sol: z.number().describe('The whole fee'),
  agent_sol: z.number().describe('The share of the agent, with what rounding leaves'),
  partner_sol: z.number().describe('The share of the launch partner'),
  buyback_sol: z.number().describe('The share of the platform-token buyback'),
}

const CreatorFee = named(
  'CreatorFee',
  z.object({
    id: z.string(),
    agent_id: z.string(),
    token_mint: z.string(),
    token_mode: TokenMode,
    ...amounts,
    source_tx: z.string().describe('The transaction that paid the fee to the platform'),
    status: Status,
    recorded_by: z.string(),
    created_at: Instant,
    settle_tx: z.string().nullable().describe('The transaction that paid the agent’s share'),
    settled_by: z.string().nullable(),
    settled_at: Instant.nullable(),
    reversed_at: Instant.nullable(),
    approval_id: z.string().nullable().describe('What reversed it'),
  }),
)

const Total = z.object({ count: z.int(), ...amounts })

const Totals = z.object({
  totals: z
    .object({ accrued: Total, settled: Total })
    .describe(
      'Sums of all fees that were not reversed, with `agent_id` of its fees. `status` and the page do not limit them',
    ),
})

export const listCreatorFees = operation({
  id: 'listCreatorFees',
  ...READ_BY_OPERATORS,
  position: 190,
  method: 'GET',
  path: '/api/admin/creator-fees',
  summary: 'List creator fees',
  description: 'Fees of agents’ tokens that operators recorded, newest first.',
  input: z.strictObject({ agent_id: AgentId.optional(), status: Status.optional(), ...pageFields }),
  output: z.array(CreatorFee),
  beside: NextCursor.extend(Totals.shape),
})

export const recordCreatorFee = operation({
  id: 'recordCreatorFee',
  ...WRITE_BY_OPERATORS,
  position: 200,
  method: 'POST',
  path: '/api/admin/creator-fees',
  summary: 'Record a creator fee',
  description:
    'Splits a fee that reached the platform’s wallet for creator fees. The amount is verified on chain, and that the transaction names the mint of the agent’s token: as an account, or as the text of a memo. Each transaction is recorded once; the same request again returns the recorded fee. Two operators reverse a wrong record (`reverse_creator_fee`).',
  input: z.strictObject({
    agent_id: AgentId,
    amount_sol: Coins.describe('Exactly what the transaction paid to the platform’s wallet, in SOL'),
    source_tx: SolanaTransaction.describe('The finalized transaction that paid the fee'),
  }),
  output: CreatorFee,
  status: 201,
  errors: {
    400: ['creator_fee_not_proven'],
    404: ['agent_not_found', 'token_not_found'],
    409: ['source_tx_used'],
    503: ['creator_fees_unavailable', 'wallets_unavailable'],
  },
})

export const settleCreatorFee = operation({
  id: 'settleCreatorFee',
  ...WRITE_BY_OPERATORS,
  position: 210,
  method: 'POST',
  path: '/api/admin/creator-fees/{creator_fee_id}/settle',
  summary: 'Settle a creator fee',
  description:
    'Names the transaction in which the platform’s wallet for creator fees paid at least the agent’s share to its payout address on Solana. It is verified on chain and settles one fee. The owner of the agent is notified.',
  input: z.strictObject({
    creator_fee_id: CreatorFeeId,
    settle_tx: SolanaTransaction.describe('The finalized transaction that paid the agent'),
  }),
  output: CreatorFee,
  errors: {
    400: ['creator_fee_not_proven'],
    404: ['creator_fee_not_found'],
    409: ['creator_fee_reversed', 'creator_fee_settled', 'settle_tx_used'],
    503: ['creator_fees_unavailable', 'wallets_unavailable'],
  },
})
