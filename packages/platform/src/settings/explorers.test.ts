import { expect, test } from 'vitest'
import { z } from 'zod'
import { apiSettings } from './api.ts'
import { explorerOf, explorerSettings, isTestNetwork, walletDetailsOf } from './explorers.ts'
import { chainSettings } from './networks.ts'

const { MARKET_ENV } = apiSettings
const read = (env: Readonly<Record<string, string>>) =>
  z.object({ ...chainSettings, ...explorerSettings, MARKET_ENV }).parse(env)

test('networks: Solana and Base are main networks by default, and ALT unless it is said to be a test', () => {
  const main = read({})
  expect((['SOLANA', 'BASE', 'ALT'] as const).map((name) => isTestNetwork(main, name))).toEqual([
    false,
    false,
    false,
  ])
  expect(explorerOf(main, 'BASE')).toEqual({
    transaction: 'https://basescan.org/tx/{hash}',
    address: 'https://basescan.org/address/{address}',
  })
  expect(explorerOf(main, 'SOLANA').address).toBe('https://solscan.io/account/{address}')
  expect(explorerOf(main, 'ALT')).toEqual({ transaction: undefined, address: undefined })
})

test('networks: another chain id or genesis hash is a test network, without the explorer of mainnet', () => {
  const test = read({ BASE_CHAIN_ID: '84532', SOLANA_GENESIS_HASH: '1'.repeat(32), ALT_IS_TEST: 'on' })
  for (const name of ['SOLANA', 'BASE', 'ALT'] as const) {
    expect(isTestNetwork(test, name)).toBe(true)
    expect(explorerOf(test, name)).toEqual({ transaction: undefined, address: undefined })
  }
  const own = read({ BASE_CHAIN_ID: '84532', BASE_EXPLORER_TX_URL: 'https://sepolia.example/tx/{hash}' })
  expect(explorerOf(own, 'BASE').transaction).toBe('https://sepolia.example/tx/{hash}')
})

test('networks: every network of development is a test network', () => {
  const development = read({ MARKET_ENV: 'development' })
  for (const name of ['SOLANA', 'BASE', 'ALT'] as const) expect(isTestNetwork(development, name)).toBe(true)
})

test('explorers: a URL without its placeholder is rejected', () => {
  expect(() => read({ BASE_EXPLORER_TX_URL: 'https://basescan.org/tx/' })).toThrow('must contain {hash}')
  expect(() => read({ ALT_EXPLORER_ADDRESS_URL: 'ftp://x/{address}' })).toThrow()
})

test('public nodes: Base has a usual one on mainnet only, and the third network has what is configured', () => {
  const main = read({ ALT_PUBLIC_RPC_URL: 'https://node.example', ALT_COIN: 'POL' })
  expect(walletDetailsOf(main, 'BASE')).toEqual({ publicNode: 'https://mainnet.base.org', coin: 'ETH' })
  expect(walletDetailsOf(main, 'ALT')).toEqual({ publicNode: 'https://node.example', coin: 'POL' })
  expect(walletDetailsOf(main, 'SOLANA')).toEqual({ publicNode: undefined, coin: 'SOL' })
  const test = read({ BASE_CHAIN_ID: '84532' })
  expect(walletDetailsOf(test, 'BASE').publicNode).toBeUndefined()
  expect(walletDetailsOf(test, 'ALT')).toEqual({ publicNode: undefined, coin: 'ETH' })
  expect(() => read({ ALT_COIN: 'a coin' })).toThrow('2 to 6 letters')
})
