import { SOLANA_CAIP2 } from '@market/chains/solana/solana-facilitator'
import type { PublicNetwork, PublicSettings } from '@market/handlers/public-settings'
import { ZERO } from '@market/kernel/money'
import { explorerOf, isTestNetwork, walletDetailsOf } from '@market/platform/settings/explorers'
import type { Config } from './config.ts'

/** The settings that `GET /api/config` shows. Nothing of them is secret: clients see each of them in other responses too. */
export function publicSettingsOf(config: Config): PublicSettings {
  const { SOLANA_TREASURY, BASE_TREASURY, ALT_TREASURY } = config
  return {
    networks: [
      ...(SOLANA_TREASURY === undefined ? [] : [onSolana(config)]),
      ...(BASE_TREASURY === undefined ? [] : [onEvm(config, 'BASE')]),
      ...(ALT_TREASURY === undefined ? [] : [onEvm(config, 'ALT')]),
    ],
    identityProvider: {
      issuer: config.IDP_ISSUER,
      audience: config.IDP_AUDIENCE,
      clientIds: { web: config.IDP_CLIENT_ID, cli: config.IDP_CLI_CLIENT_ID },
      scopes: config.IDP_SCOPES,
    },
    filesUrl: config.S3_BUCKET === undefined ? undefined : config.FILES_URL,
  }
}

const onSolana = (config: Config): PublicNetwork => ({
  network: 'solana-mainnet',
  isTest: isTestNetwork(config, 'SOLANA'),
  caip2: SOLANA_CAIP2,
  usdc: config.SOLANA_USDC,
  explorer: explorerOf(config, 'SOLANA'),
  ...walletDetailsOf(config, 'SOLANA'),
  confirmations: [
    ...(config.SOLANA_FINALIZED_FROM_USDC === ZERO ? [] : [{ from: ZERO, blocks: 'confirmed' } as const]),
    { from: config.SOLANA_FINALIZED_FROM_USDC, blocks: 'final' },
  ],
  minPayout: config.SOLANA_MIN_PAYOUT_USDC,
})

function onEvm(config: Config, name: 'BASE' | 'ALT'): PublicNetwork {
  const chainId = config[`${name}_CHAIN_ID`] ?? 0
  return {
    network: name === 'BASE' ? 'base-mainnet' : 'alt-mainnet',
    isTest: isTestNetwork(config, name),
    chainId,
    caip2: `eip155:${chainId}`,
    usdc: config[`${name}_USDC`] ?? '',
    explorer: explorerOf(config, name),
    ...walletDetailsOf(config, name),
    confirmations: config[`${name}_CONFIRMATIONS`],
    minPayout: config[`${name}_MIN_PAYOUT_USDC`],
  }
}
