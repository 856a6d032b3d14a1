import { randomBytes } from 'node:crypto'
import { readConfig as readApiConfig } from '@market/api/config'
import { evmSettings } from '@market/platform/settings/chains'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { readConfig } from '@market/worker/config'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { apiEnvironment, BASE_URL, WALLET_SEAL } from '../support/settings.ts'

/** Nothing here is ever contacted. */
const NOWHERE = 'http://127.0.0.1:1'
const NETWORKS = {
  BASE_RPC_URLS: NOWHERE,
  ALT_RPC_URLS: NOWHERE,
  ALT_CHAIN_ID: '42161',
  ALT_USDC: `0x${'a'.repeat(40)}`,
}
const WORKER = {
  MARKET_ENV: 'development',
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
  BASE_URL,
  ...newKeySettings().both,
  ...WALLET_SEAL.worker,
  ONE_PROVIDER: 'on',
  ...NETWORKS,
}
const API = {
  ...apiEnvironment({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing',
    redisUrl: 'redis://127.0.0.1:1',
    redisPrefix: 'settings',
    idp: { issuer: NOWHERE, audience: NOWHERE },
  }),
  ...NETWORKS,
}

const newKey = (): string => randomBytes(32).toString('hex')
const addressOf = (key: string): string => privateKeyToAddress(`0x${key}`)

const PROGRAMS = [
  ['api', readApiConfig, API],
  ['worker', readConfig, WORKER],
] as const

const saidBy = (read: (env: NodeJS.ProcessEnv) => unknown, env: NodeJS.ProcessEnv): string => {
  try {
    read(env)
    return ''
  } catch (error) {
    return String(error)
  }
}

const VAULT = '0xABCDEF0000000000000000000000000000000001'
const MARKET = {
  venue: 'acme',
  market: 'usdc-core',
  kind: 'lending',
  label: 'Acme USDC Core',
  network: 'base-mainnet',
  vault: VAULT,
}
const list = (...changes: readonly object[]) =>
  JSON.stringify(changes.map((change) => ({ ...MARKET, ...change })))

test.each(PROGRAMS)('%s settings: there are no markets by default', (_, read, env) => {
  expect(read(env).EARN_MARKETS).toEqual([])
})

test.each(PROGRAMS)('%s settings: a market has a key, and its vault is in lower case', (_, read, env) => {
  const wallet = addressOf(newKey())
  const config = read({ ...env, EARN_MARKETS: list({}), BASE_VENUE_WALLET: wallet })
  expect(config.EARN_MARKETS).toEqual([{ ...MARKET, key: 'acme:usdc-core', vault: VAULT.toLowerCase() }])
  const { ownPayers, venueWallet } = evmSettings(config, 'BASE', addressOf(newKey()))
  expect(venueWallet).toBe(wallet.toLowerCase())
  expect(ownPayers).toEqual([wallet.toLowerCase(), VAULT.toLowerCase()])
  expect(evmSettings(config, 'ALT', addressOf(newKey())).ownPayers).toEqual([])
})

test.each([
  ['not JSON', 'no list', 'EARN_MARKETS: must be a list in JSON'],
  ['no list', '{}', 'EARN_MARKETS: '],
  ['a venue with a capital letter', list({ venue: 'Acme' }), 'EARN_MARKETS.0.venue: must be 1 to 32 of'],
  ['a long market', list({ market: 'a'.repeat(33) }), 'EARN_MARKETS.0.market: must be 1 to 32 of'],
  ['another kind', list({ kind: 'casino' }), 'EARN_MARKETS.0.kind: '],
  ['no label', list({ label: ' ' }), 'EARN_MARKETS.0.label: '],
  ['Solana', list({ network: 'solana-mainnet' }), 'EARN_MARKETS.0.network: '],
  ['no address', list({ vault: '0x12' }), 'EARN_MARKETS.0.vault: must be an EVM address'],
  ['an unknown field', list({ apy: 5 }), 'EARN_MARKETS.0: '],
  [
    'a key twice',
    list({}, { vault: `0x${'2'.repeat(40)}` }),
    'EARN_MARKETS: must have each venue:market once',
  ],
  ['a vault twice', list({}, { market: 'other', vault: VAULT.toLowerCase() }), 'must have each vault once'],
])('market settings: rejects %s', (_, markets, message) => {
  for (const [, read, env] of PROGRAMS)
    expect(saidBy(read, { ...env, EARN_MARKETS: markets, BASE_VENUE_WALLET: addressOf(newKey()) })).toContain(
      message,
    )
})

test('market settings: the same vault address can be on two networks', () => {
  const both = {
    EARN_MARKETS: list({}, { market: 'other', network: 'alt-mainnet' }),
    BASE_VENUE_WALLET: addressOf(newKey()),
  }
  for (const [, read, env] of PROGRAMS) {
    const message = 'ALT_VENUE_WALLET: is needed for the EARN_MARKETS on alt-mainnet'
    expect(saidBy(read, { ...env, ...both })).toContain(message)
    expect(saidBy(read, { ...env, ...both, ALT_VENUE_WALLET: addressOf(newKey()) })).toBe('')
  }
})

test.each(
  ['BASE', 'ALT'].flatMap((wallet) =>
    ['BASE', 'ALT'].flatMap((other) =>
      ['TREASURY', 'GAS_ACCOUNT', 'COLD_ADDRESS'].map((use) => [wallet, `${other}_${use}`] as const),
    ),
  ),
)('venue wallets: that of %s must not be %s', (wallet, other) => {
  const address = addressOf(newKey())
  for (const [, read, env] of PROGRAMS)
    expect(
      saidBy(read, { ...env, [`${wallet}_VENUE_WALLET`]: address, [other]: address.toLowerCase() }),
    ).toContain(`${wallet}_VENUE_WALLET: is ${other}: the shares of vaults are held by a wallet of their own`)
})

test('worker settings: a network that pays out needs the key of its markets, and no other key', () => {
  const [key, treasuryKey] = [newKey(), newKey()]
  const market = { EARN_MARKETS: list({}), BASE_VENUE_WALLET: addressOf(key) }
  const said = (more: Readonly<Record<string, string>>) =>
    saidBy(readConfig, { ...WORKER, ...market, ...more })
  expect(said({})).toBe('')
  const gasKeys = { BASE_PAYOUT_GAS_KEYS: newKey(), ALT_PAYOUT_GAS_KEYS: newKey() }
  const paying = { BASE_TREASURY_KEY: treasuryKey, ...gasKeys }
  expect(said(paying)).toContain('BASE_VENUE_KEY: is needed for the EARN_MARKETS of this network')
  expect(said({ ...paying, BASE_VENUE_KEY: key })).toBe('')
  expect(said({ ...paying, BASE_VENUE_KMS_KEY: 'alias/venue' })).toContain('KMS_REGION: is required')
  expect(said({ ...paying, BASE_VENUE_KMS_KEY: 'alias/venue', KMS_REGION: 'eu-central-1' })).toBe('')
  const both = { BASE_VENUE_KEY: key, BASE_VENUE_KMS_KEY: 'alias/venue', KMS_REGION: 'eu-central-1' }
  expect(said({ ...paying, ...both })).toContain('BASE_VENUE_KEY: is set together with the KMS key')
  for (const other of ['BASE_TREASURY_KEY', 'ALT_TREASURY_KEY', 'BASE_GAS_KEY', 'ALT_GAS_KEY']) {
    const same = said({ ...paying, BASE_VENUE_KEY: key, [other]: key })
    expect(same).toContain('BASE_VENUE_KEY: is the key of a treasury or of a gas account')
    expect(same).not.toContain(key)
  }
})

test('api settings: a gas key must not be that of a venue wallet', () => {
  const key = newKey()
  const settings = {
    ...API,
    BASE_TREASURY: addressOf(newKey()),
    ALT_VENUE_WALLET: addressOf(key),
    BASE_GAS_ACCOUNT: addressOf(newKey()),
    BASE_GAS_KEY: key,
  }
  expect(saidBy(readApiConfig, settings)).toContain(
    'BASE_GAS_KEY: is the key of a treasury or of a venue wallet',
  )
})
