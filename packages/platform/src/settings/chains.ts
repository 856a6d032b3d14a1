import { parseUsd, type Usdc, usdc } from '@market/kernel/money'
import { z } from 'zod'
import { clockFrom } from './clock-file.ts'
import { clockFile, list, oneProvider, secretHex, timeoutFactor, wholeNumber } from './environment.ts'
import { checkVenueSettings, evmAddress, evmKey, venueSettings, venuesOfChain } from './venues.ts'

/** The networks and their treasuries. Read by every process that queries a chain. */

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

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const BASE_CHAIN_ID = 8453
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const MOST_CHAIN_ID = 2 ** 40
const MOST_BLOCK = 1e12

/** Addresses on Solana, or keys (lower case) of addresses on EVM networks. */
const solanaWallets = list.pipe(z.array(base58))
const evmWallets = list.pipe(z.array(evmKey))

/** Fees can be withdrawn to these addresses only: the api checks a proposal, the worker what it pays. */
export const feeAddressSettings = {
  SOLANA_FEE_ADDRESSES: solanaWallets,
  BASE_FEE_ADDRESSES: evmWallets,
  ALT_FEE_ADDRESSES: evmWallets,
}

export const feeAddressesOf = (config: z.infer<z.ZodObject<typeof feeAddressSettings>>) => ({
  'solana-mainnet': config.SOLANA_FEE_ADDRESSES,
  'base-mainnet': config.BASE_FEE_ADDRESSES,
  'alt-mainnet': config.ALT_FEE_ADDRESSES,
})

/** The most that a treasury should hold, and where the rest goes. */
export const hotMaxSettings = {
  SOLANA_HOT_MAX_USDC: amount.optional(),
  BASE_HOT_MAX_USDC: amount.optional(),
  ALT_HOT_MAX_USDC: amount.optional(),
}

/** Undefined means no limit. */
export const hotMaxOf = (config: z.infer<z.ZodObject<typeof hotMaxSettings>>) => ({
  'solana-mainnet': config.SOLANA_HOT_MAX_USDC,
  'base-mainnet': config.BASE_HOT_MAX_USDC,
  'alt-mainnet': config.ALT_HOT_MAX_USDC,
})

/** Wallets of the platform, read by the api. */
export const treasurySettings = {
  ...feeAddressSettings,
  ...hotMaxSettings,
  /** Only a transfer from one of these wallets can be recognized as revenue. */
  SOLANA_OWN_WALLETS: solanaWallets,
  /** Receives the creator fees of agents' tokens. Without it none can be recorded. */
  SOLANA_CREATOR_FEE_WALLET: base58.optional(),
  BASE_OWN_WALLETS: evmWallets,
  ALT_OWN_WALLETS: evmWallets,
}

export const chainSettings = {
  SOLANA_RPC_URLS: urls,
  /** The provider of each URL, in the same order. Default: the host of the URL. */
  SOLANA_RPC_PROVIDERS: list,
  SOLANA_GENESIS_HASH: base58.default(MAINNET_GENESIS),
  SOLANA_USDC: base58.default(SOLANA_USDC),
  SOLANA_TREASURY: base58.optional(),
  /** What the treasury need not hold is moved here. Its key is on no server. */
  SOLANA_COLD_ADDRESS: base58.optional(),
  /** The account that pays the fees of signed payments. Without it the network accepts no signed payments. */
  SOLANA_GAS_ACCOUNT: base58.optional(),
  /** The key of that account. It pays only gas. Keep about one day's gas on it. */
  SOLANA_GAS_KEY: secretHex,
  /** Payments below this amount need the commitment `confirmed`, others `finalized`. */
  SOLANA_FINALIZED_FROM_USDC: money('1000'),

  BASE_RPC_URLS: urls,
  BASE_RPC_PROVIDERS: list,
  BASE_CHAIN_ID: wholeNumber(1, MOST_CHAIN_ID).default(BASE_CHAIN_ID),
  BASE_USDC: evmAddress.default(BASE_USDC),
  BASE_TREASURY: evmAddress.optional(),
  BASE_COLD_ADDRESS: evmKey.optional(),
  BASE_GAS_ACCOUNT: evmAddress.optional(),
  BASE_GAS_KEY: secretHex,
  BASE_FEE_CAP_GWEI: wholeNumber(1, 100_000).default(20),
  BASE_CONFIRMATIONS: confirmations,
  /** The block where the treasury's history starts. Default: some hours ago. */
  BASE_WATCH_FROM: wholeNumber(0, MOST_BLOCK).optional(),

  ALT_RPC_URLS: urls,
  ALT_RPC_PROVIDERS: list,
  ALT_CHAIN_ID: wholeNumber(1, MOST_CHAIN_ID).optional(),
  ALT_USDC: evmAddress.optional(),
  ALT_TREASURY: evmAddress.optional(),
  ALT_COLD_ADDRESS: evmKey.optional(),
  ALT_GAS_ACCOUNT: evmAddress.optional(),
  ALT_GAS_KEY: secretHex,
  ALT_FEE_CAP_GWEI: wholeNumber(1, 100_000).default(200),
  ALT_CONFIRMATIONS: confirmations,
  ALT_WATCH_FROM: wholeNumber(0, MOST_BLOCK).optional(),

  ...venueSettings,

  CLOCK_FILE: clockFile,
  ONE_PROVIDER: oneProvider,
  TIMEOUT_FACTOR: timeoutFactor,
  /** Timeout of one query on one node. */
  RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(3_000),
}

export type ChainConfig = z.infer<z.ZodObject<typeof chainSettings>>
export type ChainName = 'SOLANA' | 'BASE' | 'ALT'

/** The required settings of a configured network. Each error names the setting. */
export function checkChainSettings(
  config: ChainConfig,
  isUsed: (name: ChainName) => boolean,
  ctx: z.RefinementCtx,
): void {
  const fault = (path: string, message = 'is needed to pay') =>
    ctx.addIssue({ code: 'custom', path: [path], message })
  for (const name of ['SOLANA', 'BASE', 'ALT'] as const) {
    const wrongProviders = isUsed(name) ? providerFault(config, name) : undefined
    if (wrongProviders !== undefined) fault(...wrongProviders)
    if (config[`${name}_GAS_KEY`] !== undefined && config[`${name}_GAS_ACCOUNT`] === undefined)
      fault(`${name}_GAS_ACCOUNT`, 'is needed beside its key')
  }
  for (const [account, treasury] of gasFromTreasuries(config))
    fault(account, `is ${treasury}: gas is paid from an account of its own, never from a treasury`)
  checkVenueSettings(config, ctx)
  if (!isUsed('ALT')) return
  if (config.ALT_CHAIN_ID === undefined) fault('ALT_CHAIN_ID')
  if (config.ALT_USDC === undefined) fault('ALT_USDC')
}

const MIN_PROVIDERS = 2

export const providerSettings = (config: ChainConfig, name: ChainName) => {
  const providers = config[`${name}_RPC_PROVIDERS`]
  return {
    minProviders: config.ONE_PROVIDER ? 1 : MIN_PROVIDERS,
    ...(providers.length > 0 && { providers }),
  }
}

/** Money may leave only for what two providers show, so a network with one provider could never pay out. */
function providerFault(
  config: ChainConfig,
  name: ChainName,
): readonly [path: string, message?: string] | undefined {
  const nodes = config[`${name}_RPC_URLS`]
  const named = config[`${name}_RPC_PROVIDERS`]
  if (nodes.length === 0) return [`${name}_RPC_URLS`]
  if (named.length > 0 && named.length !== nodes.length)
    return [`${name}_RPC_PROVIDERS`, 'must name one provider per URL']
  const { minProviders, providers = nodes.map((url) => new URL(url).host) } = providerSettings(config, name)
  return new Set(providers).size < minProviders
    ? [`${name}_RPC_URLS`, `must have nodes of at least ${minProviders} providers`]
    : undefined
}

const EVM = ['BASE', 'ALT'] as const

/**
 * An EVM key is the same account on every EVM network. A gas key must not be the treasury's key on any of them, because the
 * api has the gas keys and could move that money.
 */
const gasFromTreasuries = (config: ChainConfig): (readonly [string, string])[] =>
  EVM.flatMap((name) =>
    EVM.flatMap((other) => {
      const [account, treasury] = [config[`${name}_GAS_ACCOUNT`], config[`${other}_TREASURY`]]
      const isSame = account !== undefined && account.toLowerCase() === treasury?.toLowerCase()
      return isSame ? [[`${name}_GAS_ACCOUNT`, `${other}_TREASURY`] as const] : []
    }),
  )

const given = (account: string | undefined): string[] => (account === undefined ? [] : [account])

/** Timeout of one query on one node. */
export const rpcTimeoutMs = (config: ChainConfig): number => config.RPC_TIMEOUT_MS * config.TIMEOUT_FACTOR

export const solanaSettings = (config: ChainConfig, treasury: string) => ({
  rpcUrls: config.SOLANA_RPC_URLS,
  ...providerSettings(config, 'SOLANA'),
  genesisHash: config.SOLANA_GENESIS_HASH,
  usdc: config.SOLANA_USDC,
  treasury,
  cold: config.SOLANA_COLD_ADDRESS,
  commitment: (amount: Usdc) =>
    amount < config.SOLANA_FINALIZED_FROM_USDC ? ('confirmed' as const) : ('finalized' as const),
  ownAddresses: [],
  gasAccounts: given(config.SOLANA_GAS_ACCOUNT),
  blockTime: clockFrom(config).blockTime,
  timeoutMs: rpcTimeoutMs(config),
})

export function evmSettings(config: ChainConfig, name: 'BASE' | 'ALT', treasury: string) {
  const watchFrom = config[`${name}_WATCH_FROM`]
  return {
    network: name === 'BASE' ? ('base-mainnet' as const) : ('alt-mainnet' as const),
    chainId: config[`${name}_CHAIN_ID`] ?? 0,
    rpcUrls: config[`${name}_RPC_URLS`],
    ...providerSettings(config, name),
    usdc: config[`${name}_USDC`] ?? '',
    treasury,
    cold: config[`${name}_COLD_ADDRESS`],
    confirmations: config[`${name}_CONFIRMATIONS`],
    finalityTag: 'finalized' as const,
    ownAddresses: [],
    ...venuesOfChain(config, name),
    gasAccounts: given(config[`${name}_GAS_ACCOUNT`]),
    blockTime: clockFrom(config).blockTime,
    timeoutMs: rpcTimeoutMs(config),
    ...(watchFrom !== undefined && { watchFrom: BigInt(watchFrom) }),
  }
}

const GWEI = 1_000_000_000n

/** Maximum fee per gas of our transactions, in wei. */
export const feeCapOf = (config: ChainConfig, name: 'BASE' | 'ALT'): bigint =>
  BigInt(config[`${name}_FEE_CAP_GWEI`]) * GWEI

/** The settings of a facilitator besides those of the chain. Undefined without a gas account. */
export const solanaGasSettings = (config: ChainConfig, treasury: string) =>
  config.SOLANA_GAS_ACCOUNT === undefined
    ? undefined
    : { ...solanaSettings(config, treasury), gasAccount: config.SOLANA_GAS_ACCOUNT }

export function evmGasSettings(config: ChainConfig, name: 'BASE' | 'ALT', treasury: string) {
  const gasAccount = config[`${name}_GAS_ACCOUNT`]
  const feeCapPerGas = feeCapOf(config, name)
  return gasAccount === undefined
    ? undefined
    : { ...evmSettings(config, name, treasury), gasAccount, feeCapPerGas }
}
