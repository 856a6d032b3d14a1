import type { Usdc } from '@market/kernel/money'
import type { z } from 'zod'
import { clockFrom } from './clock-file.ts'
import type { chainSettings, feeAddressSettings, hotMaxSettings } from './networks.ts'
import { checkVenueSettings, venuesOfChain } from './venues.ts'

/** What the settings of the networks mean together. Read by every process that queries a chain. */

export const feeAddressesOf = (config: z.infer<z.ZodObject<typeof feeAddressSettings>>) => ({
  'solana-mainnet': config.SOLANA_FEE_ADDRESSES,
  'base-mainnet': config.BASE_FEE_ADDRESSES,
  'alt-mainnet': config.ALT_FEE_ADDRESSES,
})

/** Undefined means no limit. */
export const hotMaxOf = (config: z.infer<z.ZodObject<typeof hotMaxSettings>>) => ({
  'solana-mainnet': config.SOLANA_HOT_MAX_USDC,
  'base-mainnet': config.BASE_HOT_MAX_USDC,
  'alt-mainnet': config.ALT_HOT_MAX_USDC,
})

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

const providersOf = (config: ChainConfig, name: ChainName): ReadonlySet<string> => {
  const hosts = config[`${name}_RPC_URLS`].map((url) => new URL(url).host)
  return new Set(providerSettings(config, name).providers ?? hosts)
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
  const { minProviders } = providerSettings(config, name)
  return providersOf(config, name).size < minProviders
    ? [`${name}_RPC_URLS`, `must have nodes of at least ${minProviders} providers`]
    : undefined
}

/** With two providers, payouts of the network pause while one of them fails or is wrong. */
const RECOMMENDED_PROVIDERS = 3

/** What an operator is warned of when a program starts in production. */
export function providerWarnings(
  config: ChainConfig & { readonly MARKET_ENV: 'production' | 'development' },
): readonly string[] {
  if (config.MARKET_ENV === 'development') return []
  // fix: warns-of-two-providers
  return (['SOLANA', 'BASE', 'ALT'] as const).flatMap((name) => {
    const count = providersOf(config, name).size
    return count === 0 || count >= RECOMMENDED_PROVIDERS
      ? []
      : [
          `${name}_RPC_URLS has nodes of ${count} providers. Add a third: payouts pause while one of two fails`,
        ]
  })
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
  minPayout: config.SOLANA_MIN_PAYOUT_USDC,
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
    minPayout: config[`${name}_MIN_PAYOUT_USDC`],
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
