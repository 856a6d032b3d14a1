import { evmChain } from '@market/chains/evm/evm-chain'
import { openEvmFacilitator } from '@market/chains/evm/evm-facilitator'
import { evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { localEvmSigner, localSolanaSigner } from '@market/chains/local-signers'
import { type ConfiguredNetwork, openNetworks } from '@market/chains/nodes/open-networks'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { openSolanaFacilitator } from '@market/chains/solana/solana-facilitator'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import type { Chain } from '@market/core/ports/chain'
import type { Facilitator } from '@market/core/ports/facilitator'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { EvmTreasurySigner, SolanaTreasurySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import {
  evmGasSettings,
  evmSettings,
  feeCapOf,
  solanaGasSettings,
  solanaSettings,
} from '@market/platform/settings/chains'
import type { Config } from './config.ts'
import { hasKey } from './payout-sender-settings.ts'

/** A network this process pays on: the eye and the hand on the same treasury. */
interface Opened {
  readonly chain: Chain
  readonly sender: PayoutSender
  /** Sees through what the api sent; with the gas key it also outbids what nobody mines. */
  readonly facilitator: () => Promise<Facilitator> | undefined
}

/** The networks that have a treasury key, each from the moment its nodes were checked. */
export async function openPayoutSenders(config: Config, log: Parameters<typeof openNetworks>[1]) {
  const payoutSenders: Partial<Record<Network, PayoutSender>> = {}
  const chains: Partial<Record<Network, Chain>> = {}
  const facilitators: Partial<Record<Network, Facilitator>> = {}
  const candidate = (network: Network, open: () => Promise<Opened>): ConfiguredNetwork => ({
    network,
    async open() {
      const { chain, sender, facilitator } = await open()
      await chain.checkNodes()
      const opened = await facilitator()
      chains[network] = chain
      payoutSenders[network] = sender
      if (opened !== undefined) facilitators[network] = opened
      return sender.treasury
    },
  })
  const candidates = [
    ...(hasKey(config, 'SOLANA') ? [candidate('solana-mainnet', () => openSolana(config))] : []),
    ...(hasKey(config, 'BASE') ? [candidate('base-mainnet', () => openEvm(config, 'BASE'))] : []),
    ...(hasKey(config, 'ALT') ? [candidate('alt-mainnet', () => openEvm(config, 'ALT'))] : []),
  ]
  return { ...(await openNetworks(candidates, log)), payoutSenders, chains, facilitators }
}

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

/** The api is told an address and the worker a key: money must not come in at one place and leave from another. */
const sameTreasury = (told: string | undefined, own: string): void =>
  assert(
    told === undefined || told === own || told.toLowerCase() === own,
    `${told} is not the treasury key’s`,
  )

async function openEvm(config: Config, name: 'BASE' | 'ALT'): Promise<Opened> {
  const signer = await evmSigner(config, name)
  sameTreasury(config[`${name}_TREASURY`], signer.address.toLowerCase())
  const settings = {
    ...evmSettings(config, name, signer.address),
    feeCapPerGas: feeCapOf(config, name),
  }
  const gas = evmGasSettings(config, name, signer.address)
  const gasKey = config[`${name}_GAS_KEY`]
  return {
    chain: evmChain(settings),
    sender: evmPayoutSender(settings, signer),
    facilitator: () =>
      gas && openEvmFacilitator(gas, gasKey && localEvmSigner(`0x${gasKey.toString('hex')}`)),
  }
}

async function openSolana(config: Config): Promise<Opened> {
  const signer = await solanaSigner(config)
  sameTreasury(config.SOLANA_TREASURY, signer.address)
  const settings = solanaSettings(config, signer.address)
  const gas = solanaGasSettings(config, signer.address)
  return {
    chain: solanaChain(settings),
    sender: solanaPayoutSender(settings, signer),
    facilitator: () => gas && openSolanaFacilitator(gas),
  }
}
