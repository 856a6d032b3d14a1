import { evmChain } from '@market/chains/evm/evm-chain'
import { openEvmFacilitator } from '@market/chains/evm/evm-facilitator'
import { openEvmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { evmReserveSigner } from '@market/chains/evm/evm-reserve-signer'
import { evmVenue } from '@market/chains/evm/venue/evm-venue'
import { localEvmSigner, localSolanaSigner } from '@market/chains/local-signers'
import { type ConfiguredNetwork, openNetworks } from '@market/chains/nodes/open-networks'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { openSolanaFacilitator } from '@market/chains/solana/solana-facilitator'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import { solanaReserveAnchor } from '@market/chains/solana/solana-reserve-anchor'
import { solanaWalletSigner } from '@market/chains/solana/wallet/solana-wallet-signer'
import type { Chain } from '@market/core/ports/chain'
import type { Facilitator } from '@market/core/ports/facilitator'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import type { ReserveAnchor, ReserveSigner } from '@market/core/ports/reserve-anchor'
import type { EvmKeySigner, SolanaKeySigner } from '@market/core/ports/signer'
import type { Venue } from '@market/core/ports/venue'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import {
  evmGasSettings,
  evmSettings,
  feeCapOf,
  solanaGasSettings,
  solanaSettings,
} from '@market/platform/settings/chains'
import { marketsOn } from '@market/platform/settings/venues'
import type { Config } from './config.ts'
import { payoutGasSigners } from './payout-gas-keys.ts'
import { hasKey } from './payout-sender-settings.ts'

/** A network that this worker pays out on. Chain and sender use the same treasury. */
interface OpenNetwork {
  readonly chain: Chain
  /** Asks the nodes for what it needs, so they are checked before. */
  readonly sender: () => Promise<PayoutSender>
  /** Publishes the roots of the reserves; only on Solana, where a memo costs least. */
  readonly reserveAnchor?: ReserveAnchor
  /** Signs what is published, on EVM networks. */
  readonly reserveSigner?: ReserveSigner
  /** The markets in which pools of this network earn. */
  readonly venues?: readonly Venue[]
  /** Settles the x402 payments that the api sent. With the gas key it also replaces those that are not mined. */
  readonly facilitator: () => Promise<Facilitator> | undefined
}

/** Opens the networks that have a treasury key. A network is available after its nodes were checked. */
export async function openPayoutSenders(config: Config, log: Parameters<typeof openNetworks>[1]) {
  const payoutSenders: Partial<Record<Network, PayoutSender>> = {}
  const chains: Partial<Record<Network, Chain>> = {}
  const facilitators: Partial<Record<Network, Facilitator>> = {}
  const reserveAnchors: Partial<Record<Network, ReserveAnchor>> = {}
  const reserveSigners: Partial<Record<Network, ReserveSigner>> = {}
  const venues: Partial<Record<string, Venue>> = {}
  const candidate = (network: Network, open: () => Promise<OpenNetwork>): ConfiguredNetwork => ({
    network,
    async open() {
      const { chain, facilitator, reserveAnchor, reserveSigner, venues: opening = [], ...rest } = await open()
      await chain.checkNodes()
      const [sender, opened] = [await rest.sender(), await facilitator()]
      chains[network] = chain
      payoutSenders[network] = sender
      if (reserveAnchor !== undefined) reserveAnchors[network] = reserveAnchor
      if (reserveSigner !== undefined) reserveSigners[network] = reserveSigner
      for (const venue of opening) venues[venue.market.key] = venue
      if (opened !== undefined) facilitators[network] = opened
      return sender.treasury
    },
  })
  const candidates = [
    ...(hasKey(config, 'SOLANA') ? [candidate('solana-mainnet', () => openSolana(config))] : []),
    ...(hasKey(config, 'BASE') ? [candidate('base-mainnet', () => openEvm(config, 'BASE'))] : []),
    ...(hasKey(config, 'ALT') ? [candidate('alt-mainnet', () => openEvm(config, 'ALT'))] : []),
  ]
  return {
    ...(await openNetworks(candidates, log)),
    payoutSenders,
    chains,
    facilitators,
    reserveAnchors,
    reserveSigners,
    venues,
    /** Signs with the keys of agents, so it needs only the nodes. It is used while Solana is open. */
    walletSigner: solanaWalletSigner(solanaSettings(config, config.SOLANA_TREASURY ?? '')),
  }
}

const kmsSettings = (config: Config, keyId: string) => ({
  keyId,
  region: config.KMS_REGION ?? '',
  ...(config.KMS_ENDPOINT !== undefined && { endpoint: config.KMS_ENDPOINT }),
})

// The KMS client is large, so it is loaded only when a KMS key is configured.
async function evmSigner(
  config: Config,
  name: `${'BASE' | 'ALT'}_${'TREASURY' | 'VENUE'}`,
): Promise<EvmKeySigner> {
  const key = config[`${name}_KEY`]
  if (key !== undefined) return localEvmSigner(`0x${key.toString('hex')}`)
  const { kmsEvmSigner } = await import('@market/chains/kms/kms-evm-signer')
  return kmsEvmSigner(kmsSettings(config, config[`${name}_KMS_KEY`] ?? ''))
}

async function solanaSigner(config: Config): Promise<SolanaKeySigner> {
  const key = config.SOLANA_TREASURY_KEY
  if (key !== undefined) return localSolanaSigner(Uint8Array.from(key))
  const { kmsSolanaSigner } = await import('@market/chains/kms/kms-solana-signer')
  return kmsSolanaSigner(kmsSettings(config, config.SOLANA_TREASURY_KMS_KEY ?? ''))
}

/** The api has the treasury's address and the worker its key. Both must name the same account. */
const sameTreasury = (configured: string | undefined, own: string): void =>
  assert(
    configured === undefined || configured === own || configured.toLowerCase() === own,
    `${configured} is not the address of the treasury key`,
  )

async function openEvm(config: Config, name: 'BASE' | 'ALT'): Promise<OpenNetwork> {
  const signer = await evmSigner(config, `${name}_TREASURY`)
  sameTreasury(config[`${name}_TREASURY`], signer.address.toLowerCase())
  const gasSigners = payoutGasSigners(config, name)
  const common = evmSettings(config, name, signer.address)
  const settings = {
    ...common,
    gasAccounts: [...common.gasAccounts, ...gasSigners.map(({ address }) => address)],
    feeCapPerGas: feeCapOf(config, name),
  }
  const gas = evmGasSettings(config, name, signer.address)
  const gasKey = config[`${name}_GAS_KEY`]
  const markets = marketsOn(config, name)
  const venueSigner = markets.length === 0 ? undefined : await evmSigner(config, `${name}_VENUE`)
  return {
    chain: evmChain(settings),
    sender: () => openEvmPayoutSender(settings, signer, gasSigners),
    reserveSigner: evmReserveSigner(settings.network, signer),
    venues: venueSigner === undefined ? [] : markets.map((one) => evmVenue(settings, venueSigner, one)),
    facilitator: () =>
      gas && openEvmFacilitator(gas, gasKey && localEvmSigner(`0x${gasKey.toString('hex')}`)),
  }
}

async function openSolana(config: Config): Promise<OpenNetwork> {
  const signer = await solanaSigner(config)
  sameTreasury(config.SOLANA_TREASURY, signer.address)
  const settings = solanaSettings(config, signer.address)
  const gas = solanaGasSettings(config, signer.address)
  return {
    chain: solanaChain(settings),
    sender: async () => solanaPayoutSender(settings, signer),
    reserveAnchor: solanaReserveAnchor(settings, signer),
    facilitator: () => gas && openSolanaFacilitator(gas),
  }
}
