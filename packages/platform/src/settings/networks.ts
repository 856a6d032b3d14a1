import { parseUsd, type Usdc, usdc } from '@market/kernel/money'
import { z } from 'zod'
import { described } from './described.ts'
import { clockFile, list, oneProvider, secretHex, timeoutFactor, wholeNumber } from './environment.ts'
import { evmAddress, evmKey, venueSettings } from './venues.ts'

/** The networks and their treasuries. */

const base58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be 32 bytes in base58')
const urls = list.refine((all) => all.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)), {
  message: 'must be a list of http addresses',
})

const amount = z.string().transform((text, ctx): Usdc => {
  const parsed = parseUsd(text)
  if (parsed !== undefined) return parsed
  ctx.addIssue('must be an amount of USDC such as 1000 or 0.50')
  return z.NEVER
})

export const money = (fallback: string) => amount.prefault(fallback)

/** `0:2,1000:final`: number of confirmations from this amount of USDC on. */
const confirmations = z
  .string()
  .default('0:2,1000:final')
  .transform((text, ctx) =>
    text.split(',').map((entry) => {
      const [from = '', blocks = ''] = entry.trim().split(':')
      const amount = from === '0' ? usdc(0n) : parseUsd(from)
      if (amount !== undefined && (blocks === 'final' || /^[1-9]\d{0,3}$/.test(blocks)))
        return { from: amount, blocks: blocks === 'final' ? ('final' as const) : Number(blocks) }
      ctx.addIssue('must be a list of <USDC>:<blocks> such as 0:2,1000:final')
      return z.NEVER
    }),
  )
  .refine((rules) => rules.some(({ from }) => from === 0n), { message: 'must have a rule from 0 on' })

export const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const BASE_CHAIN_ID = 8453
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const MOST_CHAIN_ID = 2 ** 40
const MOST_BLOCK = 1e12

/** Addresses on Solana, or keys (lower case) of addresses on EVM networks. */
const solanaWallets = list.pipe(z.array(base58))
const evmWallets = list.pipe(z.array(evmKey))

const feeAddresses = (wallets: typeof solanaWallets | typeof evmWallets) =>
  described(
    wallets,
    'addresses to which fees can be withdrawn; without any, fees stay in the treasury. The worker pays fees to no other address',
  )

/** Fees can be withdrawn to these addresses only: the api checks a proposal, the worker what it pays. */
export const feeAddressSettings = {
  SOLANA_FEE_ADDRESSES: feeAddresses(solanaWallets),
  BASE_FEE_ADDRESSES: feeAddresses(evmWallets),
  ALT_FEE_ADDRESSES: feeAddresses(evmWallets),
}

const hotMax = described(
  amount.optional(),
  'the most that the treasury should hold; `GET /api/admin/treasury` and `market_treasury_above_hot_max_micros` show what is above it',
)

/** The most that a treasury should hold, and where the rest goes. */
export const hotMaxSettings = {
  SOLANA_HOT_MAX_USDC: hotMax,
  BASE_HOT_MAX_USDC: hotMax,
  ALT_HOT_MAX_USDC: hotMax,
}

const ownWallets = (wallets: typeof solanaWallets | typeof evmWallets) =>
  described(wallets, 'wallets of the platform. Only a transfer from one of them can be recognized as revenue')

/** Wallets of the platform, read by the api. */
export const treasurySettings = {
  ...feeAddressSettings,
  ...hotMaxSettings,
  SOLANA_OWN_WALLETS: ownWallets(solanaWallets),
  BASE_OWN_WALLETS: ownWallets(evmWallets),
  ALT_OWN_WALLETS: ownWallets(evmWallets),
  SOLANA_CREATOR_FEE_WALLET: described(
    base58.optional(),
    "the wallet on Solana that receives [creator fees](../contract/administration.md#record-and-settle-creator-fees) of agents' tokens. It needs `SOLANA_TREASURY` and its nodes",
    { default: 'none: recording a fee is 503' },
  ),
}

const nodes = described(
  urls,
  'nodes, in order of preference, of three providers; with two the program starts with a warning, see [providers](running.md#providers). Nodes of Base and ALT also verify signatures of smart wallets; without those of Base such signatures are 503. A URL may contain an API key',
  { secret: true, default: 'required for the network' },
)
const providers = described(
  list,
  'the provider of each URL, in the same order. Set it when one provider has several hosts',
  { default: 'the host of each URL' },
)
const treasury = <T extends z.ZodType>(schema: T) =>
  described(
    schema.optional(),
    'the address that is paid. If the worker has it too, it rejects a key of another address',
  )
const cold = <T extends z.ZodType>(schema: T) =>
  described(
    schema.optional(),
    'an address whose key is on no server, for what the treasury need not hold; see [cold address](money.md#cold-address)',
  )
const minPayout = described(
  money('0.05'),
  'less is not sent: it costs more than it is worth. The seller gets at least this of `MIN_PRICE_USDC`; see [caps and costs](money.md#caps-and-costs)',
)
const gasAccount = <T extends z.ZodType>(schema: T) =>
  described(
    schema.optional(),
    "the account that pays the gas of payments that buyers signed (x402); without it such payments are not accepted on the network. It must not be a treasury of any network: both programs reject a treasury that they have in their environment. On Solana the treasury's USDC account must exist",
  )
const gasKey = described(
  secretHex,
  "the key of the gas account, 32 bytes in hex. It can move only its own coin: keep a day's gas on it. The api needs it to accept such payments, the worker to raise fees that are too low and to sign again (EVM)",
  { secret: true },
)
const token = <T extends z.ZodType>(schema: T, shown?: string) =>
  described(schema, "the token's address", shown === undefined ? {} : { default: shown })
const chainId = <T extends z.ZodType>(schema: T, shown?: string) =>
  described(schema, 'the chain id that every node must return', shown === undefined ? {} : { default: shown })
const feeCap = (gwei: number) =>
  described(
    wholeNumber(1, 100_000).default(gwei),
    'the maximum fee per gas of our transactions; above it payouts and settlements wait',
  )
const confirmed = described(
  confirmations,
  '`<USDC>:<blocks or final>` list: from this amount on, a payment counts after so many blocks. Payouts are sent only for final payments in any case',
)
const watchFrom = described(
  wholeNumber(0, MOST_BLOCK).optional(),
  "the block at which the treasury's history begins. Set it when the treasury is older than a day; otherwise earlier payments are unknown",
  { default: '10,000 blocks back' },
)
const REQUIRED_FOR_NETWORK = 'required for the network'

/** In the order of the configuration page: the same setting of each network side by side. */
export const chainSettings = {
  SOLANA_RPC_URLS: nodes,
  BASE_RPC_URLS: nodes,
  ALT_RPC_URLS: nodes,
  SOLANA_RPC_PROVIDERS: providers,
  BASE_RPC_PROVIDERS: providers,
  ALT_RPC_PROVIDERS: providers,
  SOLANA_TREASURY: treasury(base58),
  BASE_TREASURY: treasury(evmAddress),
  ALT_TREASURY: treasury(evmAddress),
  SOLANA_COLD_ADDRESS: cold(base58),
  BASE_COLD_ADDRESS: cold(evmKey),
  ALT_COLD_ADDRESS: cold(evmKey),
  SOLANA_MIN_PAYOUT_USDC: minPayout,
  BASE_MIN_PAYOUT_USDC: minPayout,
  ALT_MIN_PAYOUT_USDC: minPayout,
  SOLANA_GENESIS_HASH: described(
    base58.default(MAINNET_GENESIS),
    'the hash that every Solana node must return',
    { default: "mainnet's" },
  ),
  BASE_CHAIN_ID: chainId(wholeNumber(1, MOST_CHAIN_ID).default(BASE_CHAIN_ID)),
  ALT_CHAIN_ID: chainId(wholeNumber(1, MOST_CHAIN_ID).optional(), REQUIRED_FOR_NETWORK),
  SOLANA_USDC: token(base58.default(SOLANA_USDC), "mainnet's"),
  BASE_USDC: token(evmAddress.default(BASE_USDC), "mainnet's"),
  ALT_USDC: token(evmAddress.optional(), REQUIRED_FOR_NETWORK),
  BASE_CONFIRMATIONS: confirmed,
  ALT_CONFIRMATIONS: confirmed,
  SOLANA_FINALIZED_FROM_USDC: described(
    money('1000'),
    'below it a payment counts when confirmed, from it on when finalized',
  ),
  BASE_WATCH_FROM: watchFrom,
  ALT_WATCH_FROM: watchFrom,
  SOLANA_GAS_ACCOUNT: gasAccount(base58),
  BASE_GAS_ACCOUNT: gasAccount(evmAddress),
  ALT_GAS_ACCOUNT: gasAccount(evmAddress),
  SOLANA_GAS_KEY: gasKey,
  BASE_GAS_KEY: gasKey,
  ALT_GAS_KEY: gasKey,
  BASE_FEE_CAP_GWEI: feeCap(20),
  ALT_FEE_CAP_GWEI: feeCap(200),
  RPC_TIMEOUT_MS: described(wholeNumber(100, 60_000).default(3_000), 'timeout of one request to one node'),

  ...venueSettings,

  CLOCK_FILE: clockFile,
  ONE_PROVIDER: oneProvider,
  TIMEOUT_FACTOR: timeoutFactor,
}
