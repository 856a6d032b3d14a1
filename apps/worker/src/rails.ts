import { setTimeout as pause } from 'node:timers/promises'
import { evmChain } from '@market/chains/evm/evm-chain'
import { evmRail } from '@market/chains/evm/evm-rail'
import { localEvmSigner } from '@market/chains/evm/local-signer'
import { localSolanaSigner } from '@market/chains/solana/local-signer'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaRail } from '@market/chains/solana/solana-rail'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { Refusal } from '@market/kernel/refusal'
import type { Rail } from '@market/market/ports/rail'
import type { EvmTreasurySigner, SolanaTreasurySigner } from '@market/market/ports/signer'
import type { Config } from './config.ts'

interface RailLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** A network that has settings: how to come by its rail, once its nodes are known to be on the right chain. */
interface Candidate {
  readonly network: Network
  open(): Promise<Rail>
}

const GWEI = 1_000_000_000n
const PAUSE_MS = 1_000

/**
 * Opens the networks that have settings. A node of another chain stops the process, whenever it is found; a network
 * that cannot be reached is not paid on until it was checked, and keeps nobody else from working.
 */
export async function openRails(config: Config, log: RailLog) {
  const open: Partial<Record<Network, Rail>> = {}
  const stop = new AbortController()
  const broken = Promise.withResolvers<never>()
  // Whoever starts the process listens a moment later.
  broken.promise.catch(() => undefined)

  const tryOne = async (candidate: Candidate): Promise<boolean> => {
    try {
      const rail = await candidate.open()
      open[candidate.network] = rail
      log.info({ network: rail.network, treasury: rail.treasury }, 'pays out')
      return true
    } catch (error) {
      if (!(error instanceof Refusal && error.kind === 'unavailable')) throw error
      return false
    }
  }
  const keepTrying = async (candidate: Candidate) => {
    while (!stop.signal.aborted) {
      await pause(PAUSE_MS, undefined, { signal: stop.signal })
      if (await tryOne(candidate)) return
    }
  }
  const begin = async (candidate: Candidate) => {
    if (await tryOne(candidate)) return
    log.warn({ network: candidate.network }, 'not paid on until its nodes answer')
    keepTrying(candidate).catch((error) => stop.signal.aborted || broken.reject(error))
  }
  await Promise.all(candidatesOf(config).map(begin))
  return { open, broken: broken.promise, stop: () => stop.abort() }
}

const candidatesOf = (config: Config): Candidate[] => [
  ...(hasKey(config, 'SOLANA')
    ? [{ network: 'solana-mainnet' as const, open: () => openSolana(config) }]
    : []),
  ...(hasKey(config, 'BASE')
    ? [{ network: 'base-mainnet' as const, open: () => openEvm(config, 'BASE') }]
    : []),
  ...(hasKey(config, 'ALT') ? [{ network: 'alt-mainnet' as const, open: () => openEvm(config, 'ALT') }] : []),
]

const hasKey = (config: Config, name: 'SOLANA' | 'BASE' | 'ALT'): boolean =>
  config[`${name}_TREASURY_KEY`] !== undefined || config[`${name}_TREASURY_KMS_KEY`] !== undefined

const kmsSettings = (config: Config, keyId: string) => ({
  keyId,
  region: config.KMS_REGION ?? '',
  ...(config.KMS_ENDPOINT !== undefined && { endpoint: config.KMS_ENDPOINT }),
})

// The KMS client is large; only who has a key there waits for it.
async function evmSigner(config: Config, name: 'BASE' | 'ALT'): Promise<EvmTreasurySigner> {
  const key = config[`${name}_TREASURY_KEY`]
  if (key !== undefined) return localEvmSigner(`0x${key.toString('hex')}`)
  const { kmsEvmSigner } = await import('@market/chains/kms/kms-evm-signer')
  return kmsEvmSigner(kmsSettings(config, config[`${name}_TREASURY_KMS_KEY`] ?? ''))
}

async function solanaSigner(config: Config): Promise<SolanaTreasurySigner> {
  const key = config.SOLANA_TREASURY_KEY
  if (key !== undefined) return localSolanaSigner(Uint8Array.from(key))
  const { kmsSolanaSigner } = await import('@market/chains/kms/kms-solana-signer')
  return kmsSolanaSigner(kmsSettings(config, config.SOLANA_TREASURY_KMS_KEY ?? ''))
}

async function openEvm(config: Config, name: 'BASE' | 'ALT'): Promise<Rail> {
  const signer = await evmSigner(config, name)
  const settings = {
    network: name === 'BASE' ? ('base-mainnet' as const) : ('alt-mainnet' as const),
    chainId: config[`${name}_CHAIN_ID`] ?? 0,
    rpcUrls: config[`${name}_RPC_URLS`],
    usdc: config[`${name}_USDC`] ?? '',
    treasury: signer.address,
    confirmations: [{ from: usdc(0n), blocks: 'final' as const }],
    finalityTag: 'finalized' as const,
    ownAddresses: [],
    timeoutMs: config.RPC_TIMEOUT_MS,
    feeCapPerGas: BigInt(config[`${name}_FEE_CAP_GWEI`]) * GWEI,
  }
  await evmChain(settings).checkNodes()
  return evmRail(settings, signer)
}

async function openSolana(config: Config): Promise<Rail> {
  const signer = await solanaSigner(config)
  const settings = {
    rpcUrls: config.SOLANA_RPC_URLS,
    genesisHash: config.SOLANA_GENESIS_HASH,
    usdc: config.SOLANA_USDC,
    treasury: signer.address,
    commitment: () => 'finalized' as const,
    ownAddresses: [],
    timeoutMs: config.RPC_TIMEOUT_MS,
  }
  await solanaChain(settings).checkNodes()
  return solanaRail(settings, signer)
}
