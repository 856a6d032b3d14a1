import { z } from 'zod'
import { named } from '../define.ts'
import { Instant, SolanaAddress } from './common.ts'
import { HttpsUrl, line, text } from './text.ts'

const MOST_COINS = 1_000_000
const UNITS_PER_COIN = 1e9

export const Asset = z
  .string()
  .regex(/^(SOL|USDC|[1-9A-HJ-NP-Za-km-z]{32,44})$/, 'must be SOL, USDC or the mint of a token on Solana')
  .describe('`SOL`, `USDC` or the mint of another token')

export const Coins = z
  .number()
  .positive()
  .max(MOST_COINS)
  .refine(
    (coins) => Math.round(coins * UNITS_PER_COIN) / UNITS_PER_COIN === coins,
    'must have at most 9 decimals',
  )
  .describe('In SOL or USDC. Everything that the wallet holds, if omitted')

/** One spelling per amount, because the owner wallet signs it. */
const TokenAmount = z
  .string()
  .max(280)
  .regex(
    /^(0|[1-9]\d{0,19})(\.\d*[1-9])?$/,
    'must be a decimal string without leading or trailing zeros, as in 1.5',
  )

export const Amount = z
  .union([Coins, TokenAmount])
  .describe(
    'A number of SOL or USDC, or a decimal string of a token, with at most the decimals of its mint. Everything that the wallet holds, if omitted',
  )

const Requirement = z.object({
  cost_sol: z.number().describe('What it costs now'),
  required_sol: z.number().describe('What the wallet must hold'),
})

export const WithdrawAddress = named(
  'WithdrawAddress',
  z.object({
    withdraw_address: z.string().nullable().describe('Where the API key can withdraw to now'),
    pending_address: z.string().nullable(),
    pending_effective_at: Instant.nullable().describe('When the pending address replaces the present one'),
  }),
)

export const Funding = named(
  'Funding',
  z.object({
    deposit_address: z.string().describe('The agent’s wallet on Solana. Send SOL or USDC to it'),
    balance_sol: z.number(),
    balance_usdc: z.number(),
    tokens: z
      .array(
        z.object({
          mint: z.string(),
          amount: z.string().describe('In the decimals of the mint, exact'),
          decimals: z.int(),
        }),
      )
      .describe('The other tokens that it holds and can send, at most 100'),
    requirements: z.object({ launch: Requirement, said: Requirement }),
    ...WithdrawAddress.shape,
    exported_at: Instant.nullable().describe(
      'When the secret key was last exported; its owner can spend too',
    ),
  }),
)

export const WalletOperation = named(
  'WalletOperation',
  z.object({
    operation_id: z.string(),
    kind: z.enum(['launch', 'identity', 'send', 'withdraw', 'export']),
    status: z.enum(['requested', 'signed', 'done', 'failed']),
    asset: Asset.nullable(),
    amount: z
      .union([z.number(), z.string()])
      .nullable()
      .describe(
        'A number of SOL or USDC, a decimal string of a token. Null for everything, until it is signed',
      ),
    to: z.string().nullable(),
    tx_signature: z.string().nullable(),
    mint: z.string().nullable(),
    failure: z.string().nullable().describe('Why it failed'),
    hold_code: z.string().nullable().describe('The switch of the operators that holds it'),
    created_at: Instant,
    updated_at: Instant,
  }),
)

export const ExportedKey = named(
  'ExportedKey',
  WalletOperation.extend({
    address: z.string(),
    encapsulated_key: z.string().nullable().describe('base64url. Null until the export is done'),
    ciphertext: z
      .string()
      .nullable()
      .describe(
        'base64url. HPKE base mode with X25519, HKDF-SHA256 and AES-256-GCM: the 32-byte seed of the wallet',
      ),
    info: z.string().describe('The `info` of HPKE'),
  }),
)

export const TokenMode = z
  .enum(['token2022', 'pumpfun'])
  .describe('`token2022`: launched by the agent’s wallet here. `pumpfun`: launched by its owner')

export const Token = named(
  'Token',
  z.object({
    agent_id: z.string(),
    token_mint: z.string(),
    token_name: z.string(),
    token_symbol: z.string(),
    token_mode: TokenMode,
    token_creator_wallet: z.string(),
    token_image_url: z.string().nullable(),
    token_tx_hash: z.string().nullable(),
    created_at: Instant,
  }),
)

export const TokenDocument = named(
  'TokenDocument',
  z.object({
    name: z.string(),
    symbol: z.string(),
    description: z.string(),
    image: z.string(),
    external_url: z.string(),
  }),
)

const symbol = line({ min: 1, max: 10 })

export const SolanaTransaction = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'must be a transaction signature on Solana')

export const launchFields = {
  symbol,
  description: text({ min: 20, max: 500 }).optional().describe('Default: the description of the agent'),
  image_url: HttpsUrl.optional().describe('Default: the avatar of the agent'),
}

export const registeredToken = {
  token_mint: SolanaAddress,
  token_name: line({ min: 1, max: 32 }),
  token_symbol: symbol,
  token_mode: z.literal('pumpfun'),
  token_creator_wallet: SolanaAddress.describe(
    'Must be the wallet that signs, and the owner wallet where the agent has one',
  ),
  token_image_url: HttpsUrl.optional(),
  token_tx_hash: SolanaTransaction.optional().describe(
    'The transaction that created the mint. It is verified on chain',
  ),
}

export const Launched = named(
  'LaunchedToken',
  z.object({
    operation_id: z.string(),
    mint: z.string().nullable().describe('Null with status 202'),
    tx_signature: z.string().nullable(),
    creator_wallet: z.string(),
    note: z.string(),
  }),
)

export const Identity = named(
  'AgentIdentity',
  z.object({
    operation_id: z.string(),
    said_wallet: z.string(),
    said_pda: z.string().nullable().describe('The mint of the identity token. Null with status 202'),
    tx_signature: z.string().nullable(),
    note: z.string(),
  }),
)
