import type { Usdc } from '@market/kernel/money'
import { getAddress, isAddress } from 'viem'

export interface ConfirmationRule {
  readonly from: Usdc
  /** How many blocks, its own included, make a transfer of this size confirmed; or only finality does. */
  readonly blocks: number | 'final'
}

export interface EvmSettings {
  readonly network: 'base-mainnet' | 'alt-mainnet'
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  readonly usdc: string
  readonly treasury: string
  /** The bigger the transfer, the longer the wait. The first rule starts at zero. */
  readonly confirmations: readonly ConfirmationRule[]
  /** Which block counts as one that stays. */
  readonly finalityTag: 'safe' | 'finalized'
  /** Vaults and hot wallets of ours: what they send is never a client's payment. */
  readonly ownAddresses: readonly string[]
  /** Accounts of ours that bring other people's payments to the chain and pay the gas for it. */
  readonly gasAccounts?: readonly string[]
  /** Where the watch over the treasury begins when it has never run; some hours back when absent. */
  readonly watchFrom?: bigint
  /** How many blocks of logs are asked for at once; providers allow different numbers. */
  readonly watchBlocks?: number
  readonly timeoutMs?: number
  /** How many blocks a node may stand behind another and still be asked. */
  readonly maxLagBlocks?: number
  /** How long a node in trouble is left alone, and how often their heights are compared. */
  readonly asideMs?: number
  readonly compareEveryMs?: number
}

/** The key under which an address is compared and stored. */
export const addressKey = (address: string): string => address.toLowerCase()

/** The address as people write it (EIP-55), or undefined when it is none. */
export const parseAddress = (text: string): `0x${string}` | undefined =>
  isAddress(text, { strict: false }) ? getAddress(text) : undefined

export const ownKeys = ({ treasury, ownAddresses }: EvmSettings): ReadonlySet<string> =>
  new Set([treasury, ...ownAddresses].map(addressKey))

export const blocksFor = (rules: readonly ConfirmationRule[], amount: bigint): number | 'final' => {
  const fitting = rules.filter((rule) => rule.from <= amount)
  const strictest = fitting.toSorted((a, b) => (a.from < b.from ? 1 : -1))[0]
  return strictest?.blocks ?? 'final'
}

/** What cannot be right is said at start, and not when the first payment comes. */
export const checkSettings = (settings: EvmSettings): EvmSettings => {
  const { usdc, treasury, ownAddresses, gasAccounts = [] } = settings
  const addresses = [usdc, treasury, ...ownAddresses, ...gasAccounts]
  const wrong = addresses.find((address) => parseAddress(address) === undefined)
  if (wrong !== undefined) throw new Error(`${settings.network}: ${wrong} is not an EVM address`)
  const counts = settings.confirmations.map(({ blocks }) => blocks)
  if (counts.some((blocks) => blocks !== 'final' && !(Number.isSafeInteger(blocks) && blocks >= 1)))
    throw new Error(`${settings.network}: confirmations are whole blocks from 1 on, or 'final'`)
  if (!settings.confirmations.some(({ from }) => from === 0n))
    throw new Error(`${settings.network}: confirmations have no rule from zero on`)
  if (settings.watchBlocks !== undefined && !(settings.watchBlocks >= 1))
    throw new Error(`${settings.network}: the watch reads one block at once or more`)
  return settings
}
