import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '@market/kernel/network'
import { type EvmNetwork, startEvmNetwork } from '@market/testing/evm-network'
import { deployVault, type TestVaultKind } from '@market/testing/evm-venues'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { startSolanaWorld } from '../chains/solana-support.ts'

const ALT_USDC = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const SOL = 1_000_000_000n

export interface ChainOptions {
  /** The initial USDC of each treasury; 0 unless given. */
  readonly float?: bigint
  /** Each network has a gas account, so that it accepts signed payments. */
  readonly gas?: boolean
  /** EVM networks make blocks by themselves, so that transactions become final. */
  readonly mines?: boolean
  /** How fast the chains are: by default a block each tenth of a second, of which the eighth is final, and 25 slots a second. */
  readonly pace?: ChainPace
  /** Base has a vault of this kind, in which a pool of Earn earns. */
  readonly vault?: TestVaultKind
}

export interface ChainPace {
  readonly blockMs: number
  /** On EVM networks a block is final two epochs later. */
  readonly slotsInAnEpoch: number
  /** On Solana. */
  readonly slotTimeMs: number
}

const FAST: ChainPace = { blockMs: 100, slotsInAnEpoch: 4, slotTimeMs: 40 }

/** A vault as the only market of Earn, and the wallet that holds its shares. */
async function startVault(chain: EvmNetwork, kind: TestVaultKind) {
  const walletKey = generatePrivateKey()
  const wallet = privateKeyToAddress(walletKey)
  await chain.fund(wallet)
  const vault = await deployVault(chain, kind)
  const market = { venue: 'test', market: 'usdc', kind: 'lending', label: 'USDC in a test vault' }
  const place = { network: 'base-mainnet', vault: vault.address }
  return {
    vault,
    wallet,
    settings: { EARN_MARKETS: JSON.stringify([{ ...market, ...place }]), BASE_VENUE_WALLET: wallet },
    workerSettings: { BASE_VENUE_KEY: walletKey.slice(2) },
  }
}

/** Makes blocks until the returned function is called. */
export function keepMining(chain: EvmNetwork, everyMs = FAST.blockMs): () => Promise<void> {
  const end = new AbortController()
  const mining = (async () => {
    while (!end.signal.aborted) {
      await chain.mine(1)
      await wait(everyMs)
    }
  })()
  return () => {
    end.abort()
    return mining
  }
}

/** An EVM chain with a treasury, and an account that sends its payouts. */
export async function startEvm(
  network: 'base-mainnet' | 'alt-mainnet',
  { float = 0n, gas: hasGas = false, mines = false, vault, pace = FAST }: ChainOptions = {},
) {
  const isBase = network === 'base-mainnet'
  const { slotsInAnEpoch } = pace
  const chain = await startEvmNetwork(
    isBase ? { chainId: 8453, slotsInAnEpoch } : { chainId: 42_161, usdc: ALT_USDC, slotsInAnEpoch },
  )
  const [treasuryKey, gasKey, payoutGasKey] = [
    generatePrivateKey(),
    generatePrivateKey(),
    generatePrivateKey(),
  ]
  const [treasury, gas] = [privateKeyToAddress(treasuryKey), privateKeyToAddress(gasKey)]
  await Promise.all([chain.fund(privateKeyToAddress(payoutGasKey)), hasGas && chain.fund(gas)])
  if (float > 0n) await chain.mint(treasury, float)
  const venue = isBase && vault !== undefined ? await startVault(chain, vault) : undefined
  if (mines) await chain.automine(false)
  const stopMining = mines ? keepMining(chain, pace.blockMs) : undefined
  const name = isBase ? 'BASE' : 'ALT'
  return {
    chain,
    treasury,
    gas,
    gasKey: gasKey.slice(2),
    venue,
    settings: {
      ...venue?.settings,
      [`${name}_RPC_URLS`]: chain.url,
      [`${name}_TREASURY`]: treasury,
      ...(hasGas && { [`${name}_GAS_ACCOUNT`]: gas }),
      ...(!isBase && { ALT_CHAIN_ID: String(chain.chainId), ALT_USDC }),
    },
    apiSettings: hasGas ? { [`${name}_GAS_KEY`]: gasKey.slice(2) } : {},
    workerSettings: {
      [`${name}_TREASURY_KEY`]: treasuryKey.slice(2),
      [`${name}_PAYOUT_GAS_KEYS`]: payoutGasKey.slice(2),
      ...venue?.workerSettings,
    },
    stop: async () => {
      await stopMining?.()
      await chain.stop()
    },
  }
}

/** The same on Solana. */
export async function startSolana({ float = 0n, gas: hasGas = false, pace = FAST }: ChainOptions = {}) {
  const chain = await startSolanaWorld({ slotTimeMs: pace.slotTimeMs })
  const newAccount = async () => {
    const seed = randomBytes(32)
    const { address } = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
    await chain.chain.fundSol(address, 100n * SOL)
    return { address: address as string, key: seed.toString('hex') }
  }
  const [treasury, gas] = [await newAccount(), await newAccount()]
  await chain.usdc.fund(treasury.address, float)
  return {
    chain,
    treasury: treasury.address,
    gas: gas.address,
    settings: {
      SOLANA_RPC_URLS: chain.chain.url,
      SOLANA_GENESIS_HASH: chain.chain.genesisHash,
      SOLANA_TREASURY: treasury.address,
      ...(hasGas && { SOLANA_GAS_ACCOUNT: gas.address }),
    },
    apiSettings: hasGas ? { SOLANA_GAS_KEY: gas.key } : {},
    workerSettings: { SOLANA_TREASURY_KEY: treasury.key },
    stop: () => chain.stop(),
  }
}

const START = {
  'base-mainnet': (options: ChainOptions) => startEvm('base-mainnet', options),
  'alt-mainnet': (options: ChainOptions) => startEvm('alt-mainnet', options),
  'solana-mainnet': startSolana,
} as const satisfies Record<Network, (options: ChainOptions) => Promise<{ stop(): Promise<void> }>>

export type MarketChains<N extends Network> = {
  readonly [Name in N]: Awaited<ReturnType<(typeof START)[Name]>>
}

/** Starts the chains of a market, and says what its programs have to know about them. */
export async function startChains<N extends Network>(networks: readonly N[], options: ChainOptions) {
  const started = await Promise.all(
    networks.map(async (network) => [network, await START[network](options)] as const),
  )
  const merged = (name: 'settings' | 'apiSettings' | 'workerSettings') =>
    Object.assign({}, ...started.map(([, chain]) => chain[name])) as Record<string, string>
  return {
    chains: Object.fromEntries(started) as MarketChains<N>,
    /** Of both programs. */
    settings: merged('settings'),
    /** The gas keys, which a worker can do without. */
    apiSettings: merged('apiSettings'),
    /** The keys of the treasuries and of the accounts that send their payouts, which only a worker has. */
    workerSettings: merged('workerSettings'),
    stop: async () => {
      await Promise.all(started.map(([, { stop }]) => stop()))
    },
  }
}
