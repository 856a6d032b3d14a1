import { evmChain } from '@market/chains/evm/evm-chain'
import { openEvmFacilitator } from '@market/chains/evm/evm-facilitator'
import { localEvmSigner, localSolanaSigner } from '@market/chains/local-signers'
import { type ConfiguredNetwork, openNetworks } from '@market/chains/nodes/open-networks'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { openSolanaFacilitator } from '@market/chains/solana/solana-facilitator'
import { solanaWalletReader } from '@market/chains/solana/wallet/solana-wallet-reader'
import type { Chain } from '@market/core/ports/chain'
import type { Facilitator } from '@market/core/ports/facilitator'
import type { Network } from '@market/kernel/network'
import {
  evmGasSettings,
  evmSettings,
  solanaGasSettings,
  solanaSettings,
} from '@market/platform/settings/chains'
import type { Config } from './config.ts'

/** A network that accepts payments; with a gas key also signed x402 payments. */
interface PaymentNetwork {
  readonly chain: Chain
  readonly facilitator: () => Promise<Facilitator> | undefined
}

/** Opens the networks that accept payments. The api only reads them; it has no key of a treasury. */
export async function openChains(config: Config, log: Parameters<typeof openNetworks>[1]) {
  const chains: Partial<Record<Network, Chain>> = {}
  const facilitators: Partial<Record<Network, Facilitator>> = {}
  const candidates = paymentNetworks(config).map(
    ({ chain, facilitator }): ConfiguredNetwork => ({
      network: chain.network,
      async open() {
        await chain.checkNodes()
        const opened = await facilitator()
        chains[chain.network] = chain
        if (opened !== undefined) facilitators[chain.network] = opened
        return chain.treasury
      },
    }),
  )
  const { SOLANA_TREASURY } = config
  return {
    ...(await openNetworks(candidates, log)),
    chains,
    facilitators,
    /** Reads the wallets of agents. */
    wallets:
      SOLANA_TREASURY === undefined ? undefined : solanaWalletReader(solanaSettings(config, SOLANA_TREASURY)),
  }
}

function paymentNetworks(config: Config): PaymentNetwork[] {
  const { SOLANA_TREASURY, BASE_TREASURY, ALT_TREASURY } = config
  return [
    ...(SOLANA_TREASURY === undefined ? [] : [onSolana(config, SOLANA_TREASURY)]),
    ...(BASE_TREASURY === undefined ? [] : [onEvm(config, 'BASE', BASE_TREASURY)]),
    ...(ALT_TREASURY === undefined ? [] : [onEvm(config, 'ALT', ALT_TREASURY)]),
  ]
}

function onEvm(config: Config, name: 'BASE' | 'ALT', treasury: string): PaymentNetwork {
  const gas = evmGasSettings(config, name, treasury)
  const key = config[`${name}_GAS_KEY`]
  return {
    chain: evmChain(evmSettings(config, name, treasury)),
    facilitator: () => gas && key && openEvmFacilitator(gas, localEvmSigner(`0x${key.toString('hex')}`)),
  }
}

function onSolana(config: Config, treasury: string): PaymentNetwork {
  const gas = solanaGasSettings(config, treasury)
  const key = config.SOLANA_GAS_KEY
  return {
    chain: solanaChain(solanaSettings(config, treasury)),
    facilitator: () =>
      gas &&
      key &&
      localSolanaSigner(Uint8Array.from(key)).then((signer) => openSolanaFacilitator(gas, signer)),
  }
}
