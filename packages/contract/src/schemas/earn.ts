import { z } from 'zod'
import { named } from '../define.ts'
import { EvmAddress, Instant } from './common.ts'
import { NetworkName, UsdPrice, UsdText } from './money.ts'
import { PayoutState } from './order.ts'
import { text } from './text.ts'

const Kind = z.enum(['lending', 'liquidity_provision'])

const MarketKey = z
  .string()
  .regex(/^[a-z0-9-]{1,32}:[a-z0-9-]{1,32}$/, 'must be the key of a market, venue:market')
  .describe('`key` of a market. By default that of the first configured one')

const SHARES = /^(?=.*[1-9])\d{1,30}(\.\d{1,12})?$/

/** Shares as they may come in: `"12.5"` or `12.5`. They go on as text, never as a float. */
const SharesAmount = z
  .union([z.string().max(43), z.number().min(0)])
  .transform(String)
  .refine((shares) => SHARES.test(shares), 'must be above 0, such as "12.5", with at most 12 decimals')

const SharesText = z.string().regex(/^\d+\.\d{12}$/)
const Risk = z.string().describe('What can happen to the money')
const HolderAgent = z.string().optional().describe('The agent that holds it; absent for your own')
const Rate = z.number().nullable().optional()

export const depositFields = {
  amount_usd: UsdPrice.describe('What you sent, in USD: more than 0 and at most 1,000,000'),
  incoming_tx_hash: text({ min: 1, max: 100 }).describe('The hash of your transfer to `treasury_wallet`'),
  key: MarketKey.optional(),
}

export const withdrawFields = {
  shares: SharesAmount.optional().describe('How many shares to withdraw, such as "12.5". Or send `all`'),
  all: z.literal(true).optional().describe('Withdraw all your shares. Or send `shares`'),
  key: MarketKey.optional(),
  destination_wallet: EvmAddress.optional().describe(
    'A wallet that paid one of your deposits into this pool',
  ),
}

export const hasOneOf = ({ shares, all }: { shares?: unknown; all?: unknown }): boolean =>
  (shares === undefined) !== (all === undefined)

const EarnMarket = named(
  'EarnMarket',
  z.object({
    key: z.string(),
    venue: z.string(),
    market: z.string(),
    kind: Kind,
    label: z.string(),
    network: NetworkName,
    treasury_wallet: z.string().nullable().describe('Send USDC on `network` to it. While null, send nothing'),
    apr_pct: Rate.describe('Of lending: the yearly rate in percent. null until it was measured for an hour'),
    fee_apr_pct: Rate.describe('Of liquidity provision: the same, from fees'),
    tvl_usd: UsdText.describe('What the venue manages for all its depositors'),
    available_usd: UsdText.describe('What the pool could pay out at once'),
    depositable: z.boolean(),
    paused: z.boolean(),
    first_deposit_min_usd: UsdText.describe('The least first deposit into a pool without shares'),
    withdraw_min_usd: UsdText.describe('The least withdrawal, unless it is of all your shares'),
    risk: Risk,
  }),
)

export const EarnMarkets = z.object({
  treasury_wallet: z.string().nullable().describe('Of the default market; null while it cannot be reached'),
  markets: z.array(EarnMarket),
})

export const EarnPool = named(
  'EarnPool',
  z.object({
    key: z.string(),
    venue: z.string(),
    kind: Kind,
    total_shares: SharesText,
    nav_usd: UsdText.describe('What the shares of all positions are worth now'),
    share_price: z.string().describe('USD for one share'),
    free_liquidity_usd: UsdText.describe('What withdrawals can get at once'),
    queued_withdrawals_usd: UsdText.describe('What the shares of open withdrawals are worth now'),
    paused: z.boolean(),
  }),
)

export const EarnPosition = z.object({
  key: z.string(),
  shares: SharesText,
  principal_usd: UsdText.describe('What was paid for these shares'),
  value_usd: UsdText.describe('What they are worth now'),
  queued_shares: SharesText.describe(
    'Of your withdrawals that the vault has not paid for. They still gain and lose',
  ),
  queued_value_usd: UsdText.describe('What those are worth now'),
  unpaid_usd: UsdText.describe('What the vault paid for your withdrawals and no payout has taken'),
  agent_id: HolderAgent,
})

const Deposit = z.object({
  deposit_id: z.string(),
  key: z.string(),
  network: NetworkName,
  amount_usd: UsdText,
  incoming_tx_hash: z.string(),
  status: z
    .enum(['waiting', 'received', 'deploying', 'active', 'refunded', 'held', 'failed'])
    .describe('`active`: the shares exist. `refunded` to the sender; `held`: an operator decides'),
  failure: z
    .string()
    .nullable()
    .describe('Why it, or the rest of it, is refunded, or why it is held or failed'),
  shares: SharesText.nullable().describe('The shares it got so far. A large deposit goes in parts'),
  value_usd: UsdText.nullable().describe('What they were worth then'),
  created_at: Instant,
  updated_at: Instant,
})

export const EarnDeposit = named('EarnDeposit', Deposit.extend({ risk: Risk }))

const Withdrawal = z.object({
  withdrawal_id: z.string(),
  key: z.string(),
  status: z
    .enum(['requested', 'settled', 'queued', 'rejected'])
    .describe('`settled`: the vault pays for all of it now. `queued`: it is paid as liquidity arrives'),
  shares_burned: SharesText.nullable().describe('Taken from your position. null while it is `requested`'),
  amount_usd: UsdText.nullable().describe(
    'What the vault paid so far, and what the open shares are worth now: an estimate until `amount_is_final`',
  ),
  amount_is_final: z.boolean().describe('Whether the vault has paid for all of its shares'),
  paid_usd: UsdText.describe('What payouts to you were requested for'),
  open_shares: SharesText.describe('The vault has not paid for them. They still gain and lose'),
  open_value_usd: UsdText.describe('What they are worth now'),
  waits_for: z
    .enum(['liquidity', 'venue_check', 'payout_minimum'])
    .nullable()
    .describe(
      '`liquidity` of the vault; `venue_check` by operators; `payout_minimum`: less than the network’s `min_payout_usd` is not sent',
    ),
  destination_wallet: z.string(),
})

/** Beside the positions: what became of each request. */
export const EarnHistory = z.object({
  deposits: z
    .array(Deposit.extend({ refund: PayoutState.nullable(), agent_id: HolderAgent }))
    .describe('The newest 50'),
  withdrawals: z
    .array(
      Withdrawal.extend({
        shares: SharesText.nullable().describe('The requested shares; null for all'),
        failure: z.string().nullable().describe('The error code of a rejected withdrawal'),
        payouts: z.array(PayoutState).describe('What was paid of the amount so far'),
        created_at: Instant,
        agent_id: HolderAgent,
      }),
    )
    .describe('The newest 50'),
})

export const EarnWithdrawal = named(
  'EarnWithdrawal',
  Withdrawal.extend({
    status: Withdrawal.shape.status.exclude(['rejected']),
    tx_hash: z.string().optional().describe('The transfer to you, once it is final'),
    risk: Risk,
  }),
)
