import { randomBytes } from 'node:crypto'
import { readConfig } from '@market/api/config'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { startApi } from '../support/processes.ts'
import { apiEnvironment } from '../support/settings.ts'

/** None of these is ever contacted, because an invalid setting stops the api at start. */
const NOWHERE = 'http://127.0.0.1:1'
const BASICS = apiEnvironment({
  databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing',
  redisUrl: 'redis://127.0.0.1:1',
  redisPrefix: 'settings',
  idp: { issuer: NOWHERE, audience: NOWHERE },
})
const EVM = {
  BASE_RPC_URLS: NOWHERE,
  ALT_RPC_URLS: NOWHERE,
  ALT_CHAIN_ID: '42161',
  ALT_USDC: `0x${'a'.repeat(40)}`,
}

const newKey = (): string => randomBytes(32).toString('hex')
const addressOf = (key: string): string => privateKeyToAddress(`0x${key}`)

const complaint = (env: Readonly<Record<string, string>>): string => {
  try {
    readConfig({ ...BASICS, ...env })
    return ''
  } catch (error) {
    return String(error)
  }
}

test('api settings: a security contact needs a date of expiry, and must be an address', () => {
  const contact = { SECURITY_CONTACT: 'mailto:security@market.test,https://market.test/report' }
  expect(complaint(contact)).toContain('SECURITY_TXT_EXPIRES: is required with a contact')
  expect(complaint({ ...contact, SECURITY_TXT_EXPIRES: '2027-01-01T00:00:00Z' })).toBe('')
  expect(complaint({ ...contact, SECURITY_TXT_EXPIRES: 'next year' })).toContain('SECURITY_TXT_EXPIRES')
  expect(complaint({ SECURITY_CONTACT: 'security@market.test' })).toContain('must be mailto: or https:')
})

test('api settings: the seller of the cheapest order gets at least the minimum payout of each network that is paid on', () => {
  const paid = { BASE_RPC_URLS: NOWHERE, ONE_PROVIDER: 'on', BASE_TREASURY: addressOf(newKey()) }
  expect(complaint({ ...paid, MIN_PRICE_USDC: '0.055' })).toContain('MIN_PRICE_USDC: is too low')
  expect(complaint({ ...paid, MIN_PRICE_USDC: '0.06' })).toBe('')
  expect(complaint({ ...paid, BASE_MIN_PAYOUT_USDC: '1' })).toContain('BASE_MIN_PAYOUT_USDC is 1.00')
  expect(complaint({ MIN_PRICE_USDC: '0.01' })).toBe('')
})

test('api settings: a swap venue needs nodes of Solana, and its key is printable', () => {
  const venue = { SWAP_URL: 'https://swaps.example/ultra/' }
  expect(complaint(venue)).toContain('SOLANA_RPC_URLS: is required with SWAP_URL')
  const complete = { ...venue, SOLANA_RPC_URLS: NOWHERE, SWAP_API_KEY: 'key-1' }
  expect(readConfig({ ...BASICS, ...complete }).SWAP_URL).toBe('https://swaps.example/ultra')
  expect(complaint({ ...complete, SWAP_API_KEY: 'two words' })).toContain('SWAP_API_KEY')
  expect(complaint({ ...complete, SWAP_URL: 'swaps.example' })).toContain('SWAP_URL')
})

test('api settings: IDP_CLAIMS maps each field to one claim', () => {
  const IDP_CLAIMS = 'username=preferred_username, wallets=https://idp.example/wallets?v=1'
  expect(readConfig({ ...BASICS, IDP_CLAIMS }).IDP_CLAIMS).toEqual({
    username: 'preferred_username',
    wallets: 'https://idp.example/wallets?v=1',
  })
  for (const wrong of ['username', 'username=', 'sub=id', 'toString=x', 'email=a b', 'name=a,name=b'])
    expect(complaint({ IDP_CLAIMS: wrong })).toContain('IDP_CLAIMS: must be a list of field=claim')
})

test('api settings: a request waits 12 seconds for its result by default, and never longer', () => {
  expect(readConfig(BASICS).RESULT_WAIT_MS).toBe(12_000)
  expect(complaint({ RESULT_WAIT_MS: '12001' })).toContain('RESULT_WAIT_MS')
})

test.each(
  ['SOLANA', 'BASE', 'ALT'].flatMap((name) => [
    `${name}_TREASURY_KEY`,
    `${name}_TREASURY_KMS_KEY`,
    `${name}_TREASURY_KMS_KEY_ID`,
  ]),
)('api settings: rejects %s, and the message names the program that needs it', (name) => {
  const key = newKey()
  const said = complaint({ [name]: key })
  expect(said).toContain(`Treasury keys must not be set for the api: ${name}. Only the worker needs them`)
  expect(said).not.toContain(key)
  // An empty variable is not a key.
  expect(complaint({ [name]: '' })).toBe('')
})

test.each(['BASE', 'ALT'].flatMap((name) => [`${name}_VENUE_KEY`, `${name}_VENUE_KMS_KEY`]))(
  'api settings: rejects %s, and the message names the program that needs it',
  (name) => {
    const key = newKey()
    const said = complaint({ [name]: key })
    expect(said).toContain(`Keys of venue wallets must not be set for the api: ${name}. Only the worker`)
    expect(said).not.toContain(key)
    expect(complaint({ [name]: '' })).toBe('')
  },
)

test.each(['BASE_PAYOUT_GAS_KEYS', 'ALT_PAYOUT_GAS_KEYS'])(
  'api settings: rejects %s, and the message names the program that needs it',
  (name) => {
    const key = newKey()
    const said = complaint({ [name]: key })
    expect(said).toContain(
      `Keys of the accounts that send payouts must not be set for the api: ${name}. Only the worker`,
    )
    expect(said).not.toContain(key)
    expect(complaint({ [name]: '' })).toBe('')
  },
)

test('the api does not start with a treasury key, and does not log the key (asvs V13.1)', async () => {
  const keys = { BASE_TREASURY_KEY: newKey(), SOLANA_TREASURY_KMS_KEY: 'alias/treasury-of-ours' }
  const said = await startApi({ ...BASICS, ...keys }).then(
    async (api) => {
      await api.stop()
      return 'it listens'
    },
    (error: unknown) => String(error),
  )
  expect(said).toContain(
    'Treasury keys must not be set for the api: BASE_TREASURY_KEY, SOLANA_TREASURY_KMS_KEY.',
  )
  for (const key of Object.values(keys)) expect(said).not.toContain(key)
})

test('api settings: rejects the private key of wallet seeds, and one half of the pair in place of the other', () => {
  const { api, worker } = newKeySettings()
  const said = complaint(worker)
  expect(said).toContain(
    'The private key of wallet seeds must not be set for the api: WALLET_SEAL_PRIVATE_KEYS. Only the worker needs it.',
  )
  const swapped = complaint({ WALLET_SEAL_PUBLIC_KEY: worker.WALLET_SEAL_PRIVATE_KEYS })
  expect(swapped).toContain('WALLET_SEAL_PUBLIC_KEY: must be public-<id>:<64 hex digits>')
  for (const text of [said, swapped])
    expect(text).not.toContain(worker.WALLET_SEAL_PRIVATE_KEYS.split(':')[1])
  expect(complaint(api)).toBe('')
})

test('api settings: two keys of a purpose can be live, not three, and the message contains no key', () => {
  const keys = [newKey(), newKey(), newKey()]
  for (const name of ['API_KEY_HASH_KEYS', 'X402_CLAIM_KEYS', 'ACCESS_TOKEN_KEYS', 'FILE_URL_KEYS']) {
    expect(complaint({ [name]: keys.slice(1).join() })).toBe('')
    const said = complaint({ [name]: keys.join() })
    expect(said).toContain(`${name}: must be a list of at most 2 keys of 64 hex digits`)
    expect(said).not.toContain(keys[0])
  }
  // Entries of the audit log are verified with the key of their time.
  expect(complaint({ AUDIT_KEYS: keys.join() })).toBe('')
})

test.each([
  ['BASE', 'BASE'],
  ['BASE', 'ALT'],
  ['ALT', 'BASE'],
  ['ALT', 'ALT'],
])('api settings: the gas account on %s must not be the treasury on %s', (name, other) => {
  const [gas, treasury] = [newKey(), newKey()]
  const settings = {
    ...EVM,
    BASE_TREASURY: addressOf(newKey()),
    ALT_TREASURY: addressOf(newKey()),
    [`${other}_TREASURY`]: addressOf(treasury),
  }
  const paidBy = (key: string) => ({
    [`${name}_GAS_KEY`]: key,
    [`${name}_GAS_ACCOUNT`]: addressOf(key).toLowerCase(),
  })
  const said = complaint({ ...settings, ...paidBy(treasury) })
  expect(said).toContain(`${name}_GAS_ACCOUNT: is ${other}_TREASURY: gas is paid from an account of its own`)
  expect(said).not.toContain(treasury)
  const pretending = { ...paidBy(gas), [`${name}_GAS_KEY`]: treasury }
  expect(complaint({ ...settings, ...pretending })).toContain(`${name}_GAS_KEY: is the key of a treasury`)
  expect(complaint({ ...settings, ...paidBy(gas) })).toBe('')
})
