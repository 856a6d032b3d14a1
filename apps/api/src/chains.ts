import { evmChain } from '@market/chains/evm/evm-chain'
import { type Candidate, openNetworks } from '@market/chains/nodes/open-networks'
import { solanaChain } from '@market/chains/solana/solana-chain'
import type { Network } from '@market/kernel/network'
import type { Chain } from '@market/market/ports/chain'
import { evmSettings, solanaSettings } from '@market/platform/settings/chains'
import type { Config } from './config.ts'

/** The networks that payments are taken on: the api looks, and holds no key. */
export async function openChains(config: Config, log: Parameters<typeof openNetworks>[1]) {
  const chains: Partial<Record<Network, Chain>> = {}
  const candidates = chainsOf(config).map(
    (chain): Candidate => ({
      network: chain.network,
      async open() {
        await chain.checkNodes()
        chains[chain.network] = chain
        return chain.treasury
      },
    }),
  )
  return { ...(await openNetworks(candidates, log)), chains }
}

function chainsOf(config: Config): Chain[] {
  const { SOLANA_TREASURY, BASE_TREASURY, ALT_TREASURY } = config
  return [
    ...(SOLANA_TREASURY === undefined ? [] : [solanaChain(solanaSettings(config, SOLANA_TREASURY))]),
    ...(BASE_TREASURY === undefined ? [] : [evmChain(evmSettings(config, 'BASE', BASE_TREASURY))]),
    ...(ALT_TREASURY === undefined ? [] : [evmChain(evmSettings(config, 'ALT', ALT_TREASURY))]),
  ]
}
