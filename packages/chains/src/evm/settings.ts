import type { Usdc } from '@market/kernel/money'
import { getAddress, isAddress } from 'viem'
import type { ProviderSettings } from '../nodes/providers.ts'

export interface ConfirmationRule {
  readonly from: Usdc
  /** Required confirmations, including the transfer's own block, or 'final' to wait for finality. */
  readonly blocks: number | 'final'
}

export interface EvmSettings extends ProviderSettings {
  readonly network: 'base-mainnet' | 'alt-mainnet'
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  readonly usdc: string
  readonly treasury: string
  /** Watched for the reserves; nothing here can sign for it. */
  readonly cold?: string | undefined
  /** Less is not sent. */
  readonly minPayout: Usdc
  /** Larger transfers need more confirmations. One rule must start at zero. */
  readonly confirmations: readonly ConfirmationRule[]
  /** The block tag that counts as final. */
  readonly finalityTag: 'safe' | 'finalized'
  /** The application's own wallets. Transfers from them are never a buyer's payment. */
  readonly ownAddresses: readonly string[]
  /** The wallet of the venues, when there is one. */
  readonly venueWallet?: string | undefined
  /** Keys of addresses whose transfers into the treasury pay for nothing. They are recorded all the same. */
  readonly ownPayers?: readonly string[]
  /** The application's accounts that settle buyers' payments and pay the gas. */
  readonly gasAccounts?: readonly string[]
  /** The marketplace's time of a block. Default: the block's own time, which only development moves. */
  readonly blockTime?: (at: Date) => Date
  /** The block where the first scan of the treasury starts. Default: some hours ago. */
  readonly watchFrom?: bigint
  /** Number of blocks per log request. The limit depends on the provider. */
  readonly watchBlocks?: number
  readonly timeoutMs?: number
  /** How many blocks a node may be behind the highest one before it is excluded. */
  readonly maxLagBlocks?: number
  /** How long a failing node is avoided, and how often the heights of the nodes are compared. */
  readonly cooldownMs?: number
  readonly compareEveryMs?: number
}

/** The form in which an address is compared and stored. */
export const addressKey = (address: string): string => address.toLowerCase()

/** The address with EIP-55 checksum, or undefined when the text is not an address. */
export const parseAddress = (text: string): `0x${string}` | undefined =>
  isAddress(text, { strict: false }) ? getAddress(text) : undefined

export const ownKeys = ({ treasury, ownAddresses }: EvmSettings): ReadonlySet<string> =>
  new Set([treasury, ...ownAddresses].map(addressKey))

/** Most providers allow at least this many blocks per request. */
const DEFAULT_BLOCKS_PER_REQUEST = 1_000

export const blocksPerRequest = ({ watchBlocks }: EvmSettings): bigint =>
  BigInt(watchBlocks ?? DEFAULT_BLOCKS_PER_REQUEST)

export const blocksFor = (rules: readonly ConfirmationRule[], amount: bigint): number | 'final' => {
  const matching = rules.filter((rule) => rule.from <= amount)
  const strictest = matching.toSorted((a, b) => (a.from < b.from ? 1 : -1))[0]
  return strictest?.blocks ?? 'final'
}

/** Rejects invalid settings at start. */
export const checkSettings = (settings: EvmSettings): EvmSettings => {
  const { usdc, treasury, cold, ownAddresses, gasAccounts = [] } = settings
  const own = [usdc, treasury, ...ownAddresses, ...gasAccounts]
  if (cold !== undefined && own.some((address) => addressKey(address) === addressKey(cold)))
    throw new Error(`${settings.network}: the cold address must be one that nothing else uses`)
  const addresses = [...own, ...(cold === undefined ? [] : [cold])]
  const wrong = addresses.find((address) => parseAddress(address) === undefined)
  if (wrong !== undefined) throw new Error(`${settings.network}: ${wrong} is not an EVM address`)
  const counts = settings.confirmations.map(({ blocks }) => blocks)
  if (counts.some((blocks) => blocks !== 'final' && !(Number.isSafeInteger(blocks) && blocks >= 1)))
    throw new Error(
      `${settings.network}: confirmations must be a whole number of blocks, at least 1, or 'final'`,
    )
  if (!settings.confirmations.some(({ from }) => from === 0n))
    throw new Error(`${settings.network}: confirmations need a rule that starts at 0`)
  if (settings.watchBlocks !== undefined && !(settings.watchBlocks >= 1))
    throw new Error(`${settings.network}: watchBlocks must be at least 1`)
  return settings
}
