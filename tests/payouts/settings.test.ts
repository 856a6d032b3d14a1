import { randomBytes } from 'node:crypto'
import { providerWarnings } from '@market/platform/settings/chains'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { startEvmNetwork } from '@market/testing/evm-network'
import { startKmsServer } from '@market/testing/kms-server'
import { testDatabase } from '@market/testing/postgres'
import { readConfig } from '@market/worker/config'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { startFaultyRelay } from '../support/payout-relay.ts'
import { startWorker } from '../support/processes.ts'
import { BASE_URL, WALLET_SEAL } from '../support/settings.ts'
import { until } from '../support/until.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
const database = await testDatabase()
afterAll(async () => {
  await chain.stop()
  await database.stop()
})

const hex = (): string => randomBytes(32).toString('hex')
const BASICS = {
  MARKET_ENV: 'development',
  DATABASE_URL: database.url,
  DATABASE_POOL: '4',
  BASE_URL,
  ...newKeySettings().both,
  ...WALLET_SEAL.worker,
  ONE_PROVIDER: 'on',
}
const PAYOUT_GAS = { BASE_PAYOUT_GAS_KEYS: hex() }
const BASE = { ...BASICS, ...PAYOUT_GAS, BASE_RPC_URLS: chain.url, BASE_TREASURY_KEY: hex() }

const complaint = (env: Readonly<Record<string, string>>): string => {
  try {
    readConfig({ ...BASICS, ...env })
    return ''
  } catch (error) {
    return String(error)
  }
}

test('no settings: no payouts; defaults for missing values', () => {
  const config = readConfig(BASICS)
  expect(config).toMatchObject({
    PAYOUT_CAP_USDC: 1_000_000_000n,
    PAYOUT_PAYEE_DAY_CAP_USDC: 2_500_000_000n,
    PAYOUT_DAY_CAP_USDC: 10_000_000_000n,
    WALLET_DAY_CAP_LAMPORTS: 10_000_000_000,
    WALLET_DAY_CAP_USDC: 2_500_000_000n,
    BASE_CHAIN_ID: 8453,
    BASE_FEE_CAP_GWEI: 20,
    BASE_RPC_URLS: [],
  })
  expect(config.BASE_TREASURY_KEY).toBeUndefined()
  expect(config.BASE_PAYOUT_GAS_KEYS).toEqual([])
})

test('providers: a network with nodes of one provider does not start, and production accepts no exception', () => {
  const two = {
    ...PAYOUT_GAS,
    BASE_TREASURY_KEY: hex(),
    BASE_RPC_URLS: 'http://a.example/1,http://a.example/2',
    ONE_PROVIDER: 'off',
  }
  const fault = 'BASE_RPC_URLS: must have nodes of at least 2 providers'
  expect(complaint({ ...two, BASE_RPC_URLS: 'http://a.example' })).toContain(fault)
  expect(complaint(two)).toContain(fault)
  expect(complaint({ ...two, BASE_RPC_PROVIDERS: 'acme,acme' })).toContain(fault)
  expect(complaint({ ...two, BASE_RPC_PROVIDERS: 'acme' })).toContain(
    'BASE_RPC_PROVIDERS: must name one provider per URL',
  )
  expect(complaint({ ...two, BASE_RPC_PROVIDERS: 'acme,other' })).toBe('')
  expect(complaint({ ...two, BASE_RPC_URLS: 'http://a.example,http://b.example' })).toBe('')
  expect(complaint({ ...two, ONE_PROVIDER: 'on' })).toBe('')
  expect(complaint({ ...two, ONE_PROVIDER: 'on', MARKET_ENV: '' })).toContain(
    ONLY_DEVELOPMENT('ONE_PROVIDER'),
  )
})

test('providers: production warns of a network with nodes of two providers, and not of three', () => {
  const config = readConfig({
    ...BASICS,
    ...PAYOUT_GAS,
    BASE_TREASURY_KEY: hex(),
    BASE_RPC_URLS: 'http://a.example,http://b.example',
    SOLANA_RPC_URLS: 'http://a.example,http://b.example,http://c.example',
  })
  expect(providerWarnings({ ...config, MARKET_ENV: 'production' })).toEqual([
    'BASE_RPC_URLS has nodes of 2 providers. Add a third: payouts pause while one of two fails',
  ])
  const named = { ...config, BASE_RPC_PROVIDERS: ['acme', 'other'] }
  expect(providerWarnings({ ...named, MARKET_ENV: 'production' })).toHaveLength(1)
  expect(providerWarnings(config)).toEqual([])
})

const ONLY_DEVELOPMENT = (name: string) => `${name}: is accepted only with MARKET_ENV=development`

test('development settings: a program rejects each of them unless MARKET_ENV is development', () => {
  const switches = {
    CLOCK_FILE: '/tmp/clock',
    SWEEP_INTERVAL_MS: '50',
    TIMEOUT_FACTOR: '2',
    OUTBOUND_REROUTE: '93.184.216.34=127.0.0.1:1',
    OUTBOUND_CA_FILE: '/tmp/ca.pem',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }
  const { MARKET_ENV: _, ONE_PROVIDER: __, ...production } = BASICS
  expect(readConfig(production).MARKET_ENV).toBe('production')
  for (const [name, value] of Object.entries(switches)) {
    expect(() => readConfig({ ...production, [name]: value })).toThrow(ONLY_DEVELOPMENT(name))
    expect(complaint({ [name]: value })).toBe('')
  }
})

test('encryption: a database on another machine needs TLS, unless MARKET_ENV is development', () => {
  const { MARKET_ENV: _, ONE_PROVIDER: __, ...production } = BASICS
  const remote = 'postgres://market_worker@db.example/market'
  expect(() => readConfig({ ...production, DATABASE_URL: remote })).toThrow('DATABASE_URL: must be encrypted')
  expect(readConfig({ ...production, DATABASE_URL: `${remote}?sslmode=verify-full` })).toBeDefined()
  expect(complaint({ DATABASE_URL: remote })).toBe('')
})

test('contradictory settings: the error names them and contains no secret', () => {
  const key = hex()
  expect(complaint({ BASE_TREASURY_KEY: key })).toContain('BASE_RPC_URLS: is needed to pay')
  const alt = complaint({ ALT_TREASURY_KEY: key, ALT_RPC_URLS: chain.url })
  expect(alt).toContain('ALT_CHAIN_ID: is needed to pay')
  expect(alt).toContain('ALT_USDC: is needed to pay')
  const both = { ...BASE, BASE_TREASURY_KEY: key, BASE_TREASURY_KMS_KEY: 'alias/treasury' }
  expect(complaint(both)).toContain('BASE_TREASURY_KEY: is set together with the KMS key. Set one of them.')
  expect(complaint(both)).toContain('KMS_REGION: is required with a KMS key')
  const short = complaint({ SOLANA_TREASURY_KEY: key.slice(1), PAYOUT_CAP_USDC: 'much' })
  expect(short).toContain('SOLANA_TREASURY_KEY: must be 32 bytes in hex')
  expect(short).toContain('PAYOUT_CAP_USDC: must be an amount')
  for (const said of [alt, complaint(both), short]) expect(said).not.toContain(key.slice(1))
})

const addressOf = (key: string): string => privateKeyToAddress(`0x${key}`)

test.each(['BASE', 'ALT'])('payout gas keys: %s needs one or more with its treasury key', (name) => {
  const setting = `${name}_PAYOUT_GAS_KEYS`
  const network = {
    ...{ BASE_RPC_URLS: chain.url, ALT_RPC_URLS: chain.url },
    ...{ ALT_CHAIN_ID: '42161', ALT_USDC: `0x${'a'.repeat(40)}` },
  }
  const keys = [hex(), `0x${hex()}`]
  for (const treasury of [
    { [`${name}_TREASURY_KEY`]: hex() },
    { [`${name}_TREASURY_KMS_KEY`]: 'alias/treasury', KMS_REGION: 'eu-central-1' },
  ]) {
    expect(complaint({ ...network, ...treasury })).toContain(`${setting}: is needed with the treasury key`)
    expect(complaint({ ...network, ...treasury, [setting]: keys.join(', ') })).toBe('')
  }
  expect(complaint({ SOLANA_TREASURY_KEY: hex(), SOLANA_RPC_URLS: 'http://a.example' })).toBe('')
  const short = complaint({ [setting]: `${keys[0]},${keys[0]?.slice(1)}` })
  expect(short).toContain(`${setting}.1: must be 32 bytes in hex`)
  expect(short).not.toContain(keys[0]?.slice(1))
  const gasKey = complaint({ [`${name}_GAS_KEY`]: '12', [setting]: keys.join(',') })
  expect(gasKey).toContain(`${name}_GAS_KEY: must be 32 bytes in hex`)
})

test('payout gas keys: each belongs to an account that does nothing else, on any EVM network', () => {
  const key = hex()
  for (const setting of ['BASE_PAYOUT_GAS_KEYS', 'ALT_PAYOUT_GAS_KEYS']) {
    const said = (more: Readonly<Record<string, string>>, list = `${hex()},0x${key.toUpperCase()}`) =>
      complaint({ ...more, [setting]: list })
    expect(said({})).toBe('')
    expect(said({}, `${key},${hex()},${key}`)).toContain(`${setting}: has a key twice`)
    const keys = [
      ...['SOLANA_TREASURY_KEY', 'BASE_TREASURY_KEY', 'ALT_TREASURY_KEY'],
      ...['SOLANA_GAS_KEY', 'BASE_GAS_KEY', 'ALT_GAS_KEY', 'BASE_VENUE_KEY', 'ALT_VENUE_KEY'],
    ]
    const accounts = ['BASE', 'ALT'].flatMap((name) =>
      ['TREASURY', 'GAS_ACCOUNT', 'VENUE_WALLET', 'COLD_ADDRESS'].map((use) => `${name}_${use}`),
    )
    for (const other of [...keys, ...accounts]) {
      const value = keys.includes(other) ? key : addressOf(key)
      const same = said({ [other]: value })
      expect(same).toContain(`${setting}: has the account of ${other}. Use accounts that only send payouts.`)
      expect(same).not.toContain(key)
    }
  }
  // Nonces are counted per chain.
  expect(complaint({ BASE_PAYOUT_GAS_KEYS: key, ALT_PAYOUT_GAS_KEYS: key })).toBe('')
})

test('worker settings: needs the private key of wallet seeds, of which two can be live', () => {
  const [one, two, three] = [newKeySettings(), newKeySettings(), newKeySettings()].map(
    ({ worker }) => worker.WALLET_SEAL_PRIVATE_KEYS,
  )
  expect(complaint({ WALLET_SEAL_PRIVATE_KEYS: `${one},${two}` })).toBe('')
  for (const wrong of ['', `${one},${two},${three}`, WALLET_SEAL.api.WALLET_SEAL_PUBLIC_KEY]) {
    const said = complaint({ WALLET_SEAL_PRIVATE_KEYS: wrong })
    expect(said).toContain(
      'WALLET_SEAL_PRIVATE_KEYS: must be a list of at most 2 keys private-<id>:<64 hex digits>',
    )
    expect(said).not.toContain(one?.split(':')[1])
  }
})

test('worker: does not start with a node on another chain, and names the node', async () => {
  const starting = startWorker({ ...BASE, BASE_CHAIN_ID: '1' })
  await expect(starting).rejects.toThrow(/base-mainnet: 127\.0\.0\.1:\d+ is on chain 8453, not on 1/)
})

test('worker: starts while the nodes are down, and pays once they respond', async () => {
  const relay = await startFaultyRelay(chain.url, () => 0.9)
  // All requests go wrong, and at once.
  relay.share = 1
  const worker = await startWorker({ ...BASE, BASE_RPC_URLS: relay.url })
  try {
    expect(worker.output()).toContain('network is not used until its nodes can be reached')
    expect(worker.output()).not.toContain('network is open')
    relay.share = 0
    await until('the network is paid on', () => worker.output().includes('network is open'), {
      withinMs: 10_000,
    })
    expect(worker.output()).not.toContain('the-key-of-the-provider')
    expect(worker.output()).not.toContain(BASE.BASE_TREASURY_KEY)
    expect(worker.output()).not.toContain(BASE.BASE_PAYOUT_GAS_KEYS)
  } finally {
    await worker.stop()
    await relay.stop()
  }
})

test('treasury key: can be a KMS key', async () => {
  const kms = await startKmsServer()
  const worker = await startWorker({
    ...BASICS,
    ...PAYOUT_GAS,
    BASE_RPC_URLS: chain.url,
    BASE_TREASURY_KMS_KEY: kms.createKey('ECC_SECG_P256K1'),
    KMS_REGION: 'eu-central-1',
    KMS_ENDPOINT: kms.endpoint,
    AWS_ACCESS_KEY_ID: kms.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: kms.credentials.secretAccessKey,
  })
  try {
    expect(worker.output()).toMatch(
      /"network":"base-mainnet","treasury":"0x[0-9a-fA-F]{40}"[^\n]*"msg":"network is open"/,
    )
    expect(kms.calls).toContain('GetPublicKey')
    expect(worker.output()).not.toContain(kms.credentials.secretAccessKey)
  } finally {
    await worker.stop()
    await kms.stop()
  }
})
