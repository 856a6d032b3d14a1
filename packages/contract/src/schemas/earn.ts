import { z } from 'zod'
import { named } from '../define.ts'
import { EvmAddress, Instant } from './common.ts'
import { NetworkName, UsdPrice, UsdText } from './money.ts'
import { PayoutState } from './order.ts'
import { text } from './text.ts'

export const MARKET_KINDS = ['lending', 'liquidity_provision'] as const
export const DEPOSIT_STATUSES = [
  'waiting',
  'received',
  'deploying',
  'active',
  'refunded',
  'held',
  'failed',
] as const

const MarketKey = z
  .string()
  .regex(/^[a-z0-9-]{1,32}:[a-z0-9-]{1,32}$/, 'must be the key of a market, venue:market')
  .describe('`key` of a market. By default that of the first configured one')

const SHARES = /^\d{1,30}(\.\d{1,12})?$/
const LONGEST_SHARES = 43

/** Shares as they may come in: `"12.5"` or `12.5`. They go on as text, never as a float. */
const SharesAmount = z
  .union([z.string().max(LONGEST_SHARES), z.number().min(0)])
  .transform(String)
  .refine((shares) => SHARES.test(shares) && /[1-9]/.test(shares), {
    error: 'must be a number of shares above 0 such as "12.5", with at most 12 decimals',
    abort: true,
  })

/** Shares as they go out. */
const SharesText = z
  .string()
  .regex(/^\d+\.\d{12}$/)
  .describe('Shares with 12 decimals')

const Risk = z.string().describe('What can happen to the money')

export const depositFields = {
  amount_usd: UsdPrice.describe('What you sent, in USD: more than 0 and at most 1,000,000'),
  incoming_tx_hash: text({ min: 1, max: 100 }).describe('The hash of your transfer to `treasury_wallet`'),
  key: MarketKey.optional(),
}

export const withdrawFields = {
  shares: SharesAmount.optional().describe('How many shares to burn, such as "12.5". Or send `all`'),
  all: z.literal(true).optional().describe('Burn all your shares. Or send `shares`'),
  key: MarketKey.optional(),
  destination_wallet: EvmAddress.optional().describe(
    'A wallet that paid one of your deposits into this pool. Required when several did',
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
    kind: z.enum(MARKET_KINDS),
    label: z.string(),
    network: NetworkName,
    treasury_wallet: z
      .string()
      .nullable()
      .describe('Send USDC on `network` to it. null while the network cannot be reached: send nothing'),
    apr_pct: z
      .number()
      .nullable()
      .optional()
      .describe('Of lending: the yearly rate in percent. null until it was measured for an hour'),
    fee_apr_pct: z
      .number()
      .nullable()
      .optional()
      .describe(
        'Of liquidity provision: the yearly rate in percent, from fees. null until it was measured for an hour',
      ),
    tvl_usd: UsdText.describe('What the venue manages for all its depositors'),
    available_usd: UsdText.describe('What the pool could pay out at once'),
    depositable: z.boolean(),
    paused: z.boolean(),
    first_deposit_min_usd: UsdText.describe(
      'The least amount of the first deposit into a pool without shares',
    ),
    risk: Risk,
  }),
)

export const EarnMarkets = named(
  'EarnMarkets',
  z.object({
    treasury_wallet: z
      .string()
      .nullable()
      .describe('That of the default market; null while it cannot be reached'),
    markets: z.array(EarnMarket),
  }),
)

export const EarnPool = named(
  'EarnPool',
  z.object({
    key: z.string(),
    venue: z.string(),
    kind: z.enum(MARKET_KINDS),
    total_shares: SharesText,
    nav_usd: UsdText.describe('What belongs to all depositors of the pool'),
    share_price: z.string().describe('USD for one share'),
    free_liquidity_usd: UsdText.describe('What withdrawals can get at once'),
    queued_withdrawals_usd: UsdText.describe('Owed for burned shares, and paid as liquidity arrives'),
    paused: z.boolean(),
  }),
)

const agentId = z.string().optional().describe('The agent that holds it; absent for your own')

export const EarnPosition = named(
  'EarnPosition',
  z.object({
    key: z.string(),
    shares: SharesText,
    principal_usd: UsdText.describe('What was paid for these shares'),
    value_usd: UsdText.describe('What they are worth now'),
    agent_id: agentId,
  }),
)

const deposit = {
  deposit_id: z.string(),
  key: z.string(),
  network: NetworkName,
  amount_usd: UsdText,
  incoming_tx_hash: z.string(),
  status: z
    .enum(DEPOSIT_STATUSES)
    .describe(
      '`waiting` for the transfer, `received`, `deploying` to the venue, `active`: the shares exist. `refunded` to the sender, `held` for an operator, or `failed`: no transfer counts',
    ),
  failure: z.string().nullable().describe('Why it is refunded, held or failed'),
  shares: SharesText.nullable().describe('The shares it got; null until it is active'),
  value_usd: UsdText.nullable().describe('What they were worth then'),
  created_at: Instant,
  updated_at: Instant,
}

export const EarnDeposit = named('EarnDeposit', z.object({ ...deposit, risk: Risk }))

const ListedDeposit = named(
  'ListedEarnDeposit',
  z.object({ ...deposit, refund: PayoutState.nullable(), agent_id: agentId }),
)

const ListedWithdrawal = named(
  'ListedEarnWithdrawal',
  z.object({
    withdrawal_id: z.string(),
    key: z.string(),
    status: z
      .enum(['requested', 'settled', 'queued', 'rejected'])
      .describe(
        '`requested` until the shares are burned. `rejected`: none were. `queued`: paid as liquidity arrives',
      ),
    failure: z.string().nullable().describe('The error code of a rejected withdrawal'),
    shares: SharesText.nullable().describe('The requested shares; null for all'),
    shares_burned: SharesText.nullable(),
    amount_usd: UsdText.nullable().describe('What the burned shares were worth'),
    destination_wallet: z.string(),
    payouts: z.array(PayoutState).describe('What was paid of the amount so far'),
    created_at: Instant,
    agent_id: agentId,
  }),
)

/** Beside the positions: what became of each request. */
export const EarnHistory = z.object({
  deposits: z.array(ListedDeposit).describe('The newest 50'),
  withdrawals: z.array(ListedWithdrawal).describe('The newest 50'),
})

export const EarnWithdrawal = named(
  'EarnWithdrawal',
  z.object({
    withdrawal_id: z.string(),
    key: z.string(),
    status: z
      .enum(['settled', 'queued', 'requested'])
      .describe(
        '`settled`: free liquidity covers it. `queued`: the shares are burned, and it is paid as liquidity arrives. `requested`: not decided yet',
      ),
    shares_burned: SharesText.nullable().describe('null while it is `requested`'),
    amount_usd: UsdText.nullable().describe('null while it is `requested`'),
    destination_wallet: z.string(),
    tx_hash: z.string().optional().describe('The transfer to you, once it is final'),
    risk: Risk,
  }),
)
