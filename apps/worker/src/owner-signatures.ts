import { providerOf } from '@market/chains/nodes/providers'
import { agreeingSignatures } from '@market/chains/signatures/agreeing-signatures'
import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import type { Signatures } from '@market/core/ports/signatures'
import { type ChainConfig, providerSettings, rpcTimeoutMs } from '@market/platform/settings/chains'

const nodesByProvider = (config: ChainConfig, name: 'BASE' | 'ALT'): ReadonlyMap<string, string[]> => {
  const { providers } = providerSettings(config, name)
  return Map.groupBy(config[`${name}_RPC_URLS`], (url, index) =>
    providerOf(providers, index, new URL(url).host),
  )
}

/** Verifies who owns an agent's wallet. As many providers as a payout needs must confirm a smart wallet's signature. */
export function ownerSignatures(config: ChainConfig & { readonly BASE_URL: string }): Signatures {
  const site = { domain: new URL(config.BASE_URL).host, uri: config.BASE_URL }
  const [base, alt] = [nodesByProvider(config, 'BASE'), nodesByProvider(config, 'ALT')]
  const signaturesBy = (evmRpcUrls: readonly string[] = [], altRpcUrls: readonly string[] = []) =>
    walletSignatures({ ...site, evmRpcUrls, altRpcUrls, rpcTimeoutMs: rpcTimeoutMs(config) })
  const providers = [...new Set([...base.keys(), ...alt.keys()])]
  // Without EVM nodes only key signatures can be verified.
  const perProvider =
    providers.length === 0
      ? [signaturesBy()]
      : providers.map((provider) => signaturesBy(base.get(provider), alt.get(provider)))
  return agreeingSignatures(perProvider, providerSettings(config, 'BASE').minProviders)
}
