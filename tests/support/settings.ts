import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { urlOfRole } from '@market/database/roles'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { CLI_CLIENT_ID } from '@market/testing/idp'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'

/** The Redis that tests share; each has keys with a prefix of its own. */
export const REDIS_URL = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'

/** One operator's key for the run; only its hash reaches the application. */
export const ADMIN_KEY = `adm_${randomBytes(24).toString('base64url')}`
export const ADMIN_USER = 'operator-1'
/** Approves what the first operator proposes. */
export const SECOND_ADMIN_USER = 'operator-2'

/** A wallet of the platform: its transfers can be recognized as revenue. */
export const OWN_WALLET = '0x00000000000000000000000000000000000000b1'

export const BASE_URL = 'https://market.test'
export const APP_URL = 'https://app.market.test'
export const FILES_URL = 'https://files.market.test'

/** Fees may be withdrawn to this address, here with its checksum. */
export const FEE_ADDRESS = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'

/** Receives the creator fees of agents' tokens, and pays agents their shares. */
export const CREATOR_FEE_WALLET = '8SFqwqnq4whPhs8icwHA2hQg3hUoN1qrCLK1SBx3WKwe'
export const CREATOR_FEE_SEED = new Uint8Array(32).fill(5)

/** The pair that wallets are sealed to: each api has the public half, each worker the private one. Each api also has the key of receipts. */
const { api, worker } = newKeySettings()
export const WALLET_SEAL = { api, worker }

/** The keys that an api's environment shares with its worker. */
export function sharedKeys(environment: Readonly<Record<string, string>>): Record<string, string> {
  const names = Object.keys(newKeySettings().both)
  return Object.fromEntries(names.map((name) => [name, environment[name] ?? '']))
}

/** A public address for names in tests; nothing is ever sent to it. */
export const PUBLIC_ADDRESS = '93.184.216.34'

/** The settings with which programs send to this server what is for the public address. */
export function outboundTo({ port, ca }: { readonly port: number; readonly ca: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca)
  return {
    settings: { OUTBOUND_REROUTE: `${PUBLIC_ADDRESS}=127.0.0.1:${port}`, OUTBOUND_CA_FILE: caFile },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * For tests that expect the wait for a chain or the worker to run out. Those that expect the result have the default, which a
 * busy machine needs.
 */
export const SHORT_WAIT = { RESULT_WAIT_MS: '1000' } as const

/** For tests that would wait for sweeps which run 5 or 10 seconds apart. They cost CPU, so other workers do without. */
export const FREQUENT_SWEEPS = { SWEEP_INTERVAL_MS: '500' } as const

interface Parts {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly redisPrefix: string
  readonly idp: { readonly issuer: string; readonly audience: string }
}

/** The environment of an api process in tests; tests can override single settings. */
export function apiEnvironment(parts: Parts): Record<string, string> {
  return {
    MARKET_ENV: 'development',
    DATABASE_URL: urlOfRole(parts.databaseUrl, 'api'),
    // Many apps of tests share the connections of one server.
    DATABASE_POOL: '8',
    REDIS_URL: parts.redisUrl,
    REDIS_PREFIX: parts.redisPrefix,
    BASE_URL,
    APP_URL,
    FILES_URL,
    FILES_PORT: '0',
    PORT: '0',
    IDP_ISSUER: parts.idp.issuer,
    IDP_AUDIENCE: parts.idp.audience,
    IDP_CLI_CLIENT_ID: CLI_CLIENT_ID,
    ...newKeySettings().both,
    ...WALLET_SEAL.api,
    ADMIN_USER_IDS: `${ADMIN_USER},${SECOND_ADMIN_USER}`,
    ADMIN_KEY_HASHES: `ops:${createHash('sha256').update(ADMIN_KEY).digest('hex')}`,
    BASE_OWN_WALLETS: OWN_WALLET,
    BASE_FEE_ADDRESSES: FEE_ADDRESS,
    SOLANA_CREATOR_FEE_WALLET: CREATOR_FEE_WALLET,
    LOG_LEVEL: 'info',
    DRAIN_MS: '0',
    // Tests read without a credential what they just wrote.
    SHARED_READ_MS: '0',
    // Most tests have one node per network.
    ONE_PROVIDER: 'on',
    // The timeouts of the product would end requests that only wait for a busy machine.
    TIMEOUT_FACTOR: String(TIMEOUT_FACTOR),
    // Tests act as many clients by setting X-Forwarded-For.
    TRUSTED_PROXIES: '127.0.0.1',
  }
}
