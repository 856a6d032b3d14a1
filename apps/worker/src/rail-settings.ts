import { parseUsd, type Usdc } from '@market/kernel/money'
import { list, wholeNumber } from '@market/platform/settings/environment'
import { z } from 'zod'

const secretHex = z
  .string()
  .regex(/^(0x)?[0-9a-f]{64}$/i, 'must be 32 bytes in hex')
  .transform((text) => Buffer.from(text.replace(/^0x/i, ''), 'hex'))
  .optional()

const kmsKey = z.string().min(1).max(2048).optional()
const evmAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address')
const base58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be 32 bytes in base58')
const urls = list.refine((all) => all.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)), {
  message: 'must be a list of http addresses',
})

const money = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text, ctx): Usdc => {
      const amount = parseUsd(text)
      if (amount !== undefined) return amount
      ctx.addIssue('must be an amount of USDC such as 1000 or 0.50')
      return z.NEVER
    })

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const BASE_CHAIN_ID = 8453
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const MOST_CHAIN_ID = 2 ** 40

/** What the worker pays with. A network without a treasury key is not paid on. */
export const railSettings = {
  SOLANA_RPC_URLS: urls,
  SOLANA_GENESIS_HASH: base58.default(MAINNET_GENESIS),
  SOLANA_USDC: base58.default(SOLANA_USDC),
  SOLANA_TREASURY_KEY: secretHex,
  SOLANA_TREASURY_KMS_KEY: kmsKey,
  /** Fees and a fresh account's rent, in lamports: the rent alone is 2 039 280. */
  SOLANA_COST_CAP: wholeNumber(5_000, 1_000_000_000).default(5_000_000),

  BASE_RPC_URLS: urls,
  BASE_CHAIN_ID: wholeNumber(1, MOST_CHAIN_ID).default(BASE_CHAIN_ID),
  BASE_USDC: evmAddress.default(BASE_USDC),
  BASE_TREASURY_KEY: secretHex,
  BASE_TREASURY_KMS_KEY: kmsKey,
  BASE_FEE_CAP_GWEI: wholeNumber(1, 100_000).default(20),

  ALT_RPC_URLS: urls,
  ALT_CHAIN_ID: wholeNumber(1, MOST_CHAIN_ID).optional(),
  ALT_USDC: evmAddress.optional(),
  ALT_TREASURY_KEY: secretHex,
  ALT_TREASURY_KMS_KEY: kmsKey,
  ALT_FEE_CAP_GWEI: wholeNumber(1, 100_000).default(200),

  KMS_REGION: z.string().min(1).optional(),
  KMS_ENDPOINT: z.url().optional(),
  /** How long one node may take for one question. */
  RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(3_000),

  PAYOUT_CAP_USDC: money('1000'),
  PAYOUT_DAY_CAP_USDC: money('10000'),
}

type RailConfig = z.infer<z.ZodObject<typeof railSettings>>

/** Settings that only make sense together: each fault names the setting that is missing or too many. */
export function checkRailSettings(config: RailConfig, ctx: z.RefinementCtx): void {
  const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message })
  for (const name of ['SOLANA', 'BASE', 'ALT'] as const) {
    const isLocal = config[`${name}_TREASURY_KEY`] !== undefined
    const isKms = config[`${name}_TREASURY_KMS_KEY`] !== undefined
    if (!isLocal && !isKms) continue
    if (isLocal && isKms) fault(`${name}_TREASURY_KEY`, 'is one of two keys: give one')
    if (isKms && config.KMS_REGION === undefined) fault('KMS_REGION', 'is needed for a KMS key')
    if (config[`${name}_RPC_URLS`].length === 0) fault(`${name}_RPC_URLS`, 'is needed to pay')
    if (name !== 'ALT') continue
    if (config.ALT_CHAIN_ID === undefined) fault('ALT_CHAIN_ID', 'is needed to pay')
    if (config.ALT_USDC === undefined) fault('ALT_USDC', 'is needed to pay')
  }
}
