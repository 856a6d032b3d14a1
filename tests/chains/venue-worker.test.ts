import { newKeySettings } from '@market/platform/vault/new-keys'
import { startEvmNetwork } from '@market/testing/evm-network'
import { deployVault } from '@market/testing/evm-venues'
import { startKmsServer } from '@market/testing/kms-server'
import { readConfig } from '@market/worker/config'
import { openPayoutSenders } from '@market/worker/payout-senders'
import { afterAll, expect, test, vi } from 'vitest'
import { BASE_URL, WALLET_SEAL } from '../support/settings.ts'
import { newAccount } from './evm-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())

const vaults = [await deployVault(network, 'lending'), await deployVault(network, 'liquidity')] as const
const [treasury, wallet] = [newAccount(), newAccount()]
const EARN_MARKETS = JSON.stringify(
  vaults.map(({ address }, index) => ({
    venue: 'test',
    market: `vault-${index}`,
    kind: 'lending',
    label: 'A vault',
    network: 'base-mainnet',
    vault: address,
  })),
)
const SETTINGS = {
  MARKET_ENV: 'development',
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
  BASE_URL,
  ...newKeySettings().both,
  ...WALLET_SEAL.worker,
  ONE_PROVIDER: 'on',
  BASE_RPC_URLS: network.url,
  BASE_TREASURY_KEY: treasury.key.slice(2),
  BASE_PAYOUT_GAS_KEYS: newAccount().key.slice(2),
  EARN_MARKETS,
  BASE_VENUE_WALLET: wallet.address,
}

const open = async (more: Readonly<Record<string, string>>) => {
  const silent = { info: () => undefined, warn: () => undefined }
  const opened = await openPayoutSenders(readConfig({ ...SETTINGS, ...more }), silent)
  opened.stop()
  return opened
}

test('the worker opens a venue per market with the network, and the chain knows their addresses', async () => {
  const { venues, chains } = await open({ BASE_VENUE_KEY: wallet.key.slice(2) })
  expect(Object.keys(venues)).toEqual(['test:vault-0', 'test:vault-1'])
  expect(venues['test:vault-1']).toMatchObject({
    wallet: wallet.address.toLowerCase(),
    market: { vault: vaults[1].address.toLowerCase() },
  })
  expect(await venues['test:vault-0']?.read(0n)).toMatchObject({ value: 0n, isHonest: true })
  expect(chains['base-mainnet']?.ownPayers).toEqual(
    [wallet.address, ...vaults.map(({ address }) => address)].map((address) => address.toLowerCase()),
  )
})

test('the worker rejects a venue key of another address than the venue wallet, and one of its treasury', async () => {
  await expect(open({ BASE_VENUE_KEY: newAccount().key.slice(2) })).rejects.toThrow('is not the venue wallet')
  const same = { BASE_VENUE_KEY: treasury.key.slice(2), BASE_VENUE_WALLET: treasury.address }
  await expect(open(same)).rejects.toThrow('is the key of a treasury or of a gas account')
})

test('the venue key can be a KMS key', async () => {
  const kms = await startKmsServer()
  vi.stubEnv('AWS_ACCESS_KEY_ID', kms.credentials.accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', kms.credentials.secretAccessKey)
  const settings = {
    BASE_VENUE_KMS_KEY: kms.createKey('ECC_SECG_P256K1'),
    KMS_REGION: 'eu-central-1',
    KMS_ENDPOINT: kms.endpoint,
  }
  const said = await open(settings).catch((error: Error) => error.message)
  const [, address = ''] =
    /the signer's address (0x[0-9a-f]{40}) is not the venue wallet/.exec(`${said}`) ?? []
  const { venues } = await open({ ...settings, BASE_VENUE_WALLET: address })
  expect(venues['test:vault-0']?.wallet).toBe(address)
  vi.unstubAllEnvs()
  await kms.stop()
})
