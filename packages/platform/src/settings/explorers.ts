import { isDevelopment } from '@market/kernel/encrypted-url'
import { z } from 'zod'
import type { ChainConfig, ChainName } from './chains.ts'
import { described } from './described.ts'
import { onOrOff } from './environment.ts'
import { BASE_CHAIN_ID, MAINNET_GENESIS } from './networks.ts'

/** What only `GET /api/config` says about the networks. Read by the api. */

const link = (placeholder: '{hash}' | '{address}') =>
  z
    .url({ protocol: /^https?$/ })
    .refine((url) => url.includes(placeholder), `must contain ${placeholder}`)
    .optional()

const transaction = (usual: string) =>
  described(link('{hash}'), 'the page of a transaction in an explorer, with `{hash}` for its hash', {
    default: usual,
  })
const address = (usual: string) =>
  described(link('{address}'), 'the same for an address, with `{address}`', { default: usual })

const publicNode = (usual: string) =>
  described(
    z.url({ protocol: /^https?$/ }).optional(),
    'a node that everyone may call: a wallet that does not know the network adds it with this node',
    { default: usual },
  )

/** Only for the main network: an explorer of it does not know the transactions of a test network. */
const USUAL = {
  SOLANA: { transaction: 'https://solscan.io/tx/{hash}', address: 'https://solscan.io/account/{address}' },
  BASE: { transaction: 'https://basescan.org/tx/{hash}', address: 'https://basescan.org/address/{address}' },
  ALT: { transaction: undefined, address: undefined },
} as const satisfies Record<ChainName, unknown>

export const explorerSettings = {
  SOLANA_EXPLORER_TX_URL: transaction('on mainnet that of solscan.io'),
  BASE_EXPLORER_TX_URL: transaction('on mainnet that of basescan.org'),
  ALT_EXPLORER_TX_URL: transaction('none'),
  SOLANA_EXPLORER_ADDRESS_URL: address('on mainnet that of solscan.io'),
  BASE_EXPLORER_ADDRESS_URL: address('on mainnet that of basescan.org'),
  ALT_EXPLORER_ADDRESS_URL: address('none'),
  BASE_PUBLIC_RPC_URL: publicNode('on mainnet https://mainnet.base.org'),
  ALT_PUBLIC_RPC_URL: publicNode('none'),
  ALT_COIN: described(
    z
      .string()
      .regex(/^[A-Za-z0-9]{2,6}$/, 'must be 2 to 6 letters or digits')
      .default('ETH'),
    'the coin that pays for gas on the third network; it has 18 decimals',
  ),
  ALT_IS_TEST: described(
    onOrOff.default(false),
    '`on` when its USDC has no value. Solana and Base are test networks when they are not mainnet, and every network is one with `MARKET_ENV=development`',
  ),
}

const BASE_NODE = 'https://mainnet.base.org'

type ExplorerConfig = ChainConfig &
  z.infer<z.ZodObject<typeof explorerSettings>> & { readonly MARKET_ENV: string }

/** Whether the USDC of the network has no value. */
export function isTestNetwork(config: ExplorerConfig, name: ChainName): boolean {
  if (isDevelopment({ MARKET_ENV: config.MARKET_ENV })) return true
  switch (name) {
    case 'SOLANA':
      return config.SOLANA_GENESIS_HASH !== MAINNET_GENESIS
    case 'BASE':
      return config.BASE_CHAIN_ID !== BASE_CHAIN_ID
    case 'ALT':
      return config.ALT_IS_TEST
  }
}

export function explorerOf(config: ExplorerConfig, name: ChainName) {
  const usual = isTestNetwork(config, name) ? USUAL.ALT : USUAL[name]
  return {
    transaction: config[`${name}_EXPLORER_TX_URL`] ?? usual.transaction,
    address: config[`${name}_EXPLORER_ADDRESS_URL`] ?? usual.address,
  }
}

/** What a wallet needs to add the network, and the coin of its gas. */
export function walletDetailsOf(config: ExplorerConfig, name: ChainName) {
  switch (name) {
    case 'SOLANA':
      return { publicNode: undefined, coin: 'SOL' }
    case 'BASE': {
      const usual = isTestNetwork(config, name) ? undefined : BASE_NODE
      return { publicNode: config.BASE_PUBLIC_RPC_URL ?? usual, coin: 'ETH' }
    }
    case 'ALT':
      return { publicNode: config.ALT_PUBLIC_RPC_URL, coin: config.ALT_COIN }
  }
}
