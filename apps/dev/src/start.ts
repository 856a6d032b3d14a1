import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { urlOfRole } from '@market/database/roles'
import type { Network } from '@market/kernel/network'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { type Idp, startIdp } from '@market/testing/idp'
import { apiCaller } from './call-api.ts'
import type { Cleanup } from './cleanup.ts'
import { movableClock } from './clock.ts'
import type { Settings } from './config.ts'
import { buildControl, startControl } from './control.ts'
import type { NetworkAddresses } from './networks/network.ts'
import { startNetworks } from './networks/start-networks.ts'
import { HOST } from './ports.ts'
import { findPostgres, startPostgres } from './postgres.ts'
import { startProgram } from './program.ts'
import { deleteKeys, findRedis, startRedis } from './redis.ts'
import { createRunDatabase } from './run-database.ts'
import { registerSampleAgents } from './sample-agents.ts'
import { OPERATOR, userIdOf } from './sample-users.ts'

/** The addresses of one run; `--json` prints this object. */
export interface Addresses {
  readonly api: string
  readonly app: string
  readonly control: string
  readonly postgres: string
  readonly redis: string
  readonly idp: string
  /** Empty with `--no-chains`. */
  readonly networks: Readonly<Partial<Record<Network, NetworkAddresses>>>
  readonly admin_key: string
}

export interface StartOptions {
  readonly cleanup: Cleanup
  /** Aborted when the run is stopped before everything is up. */
  readonly signal: AbortSignal
  /** Called when a part ends without being stopped. */
  readonly onExit: (name: string, lastLines?: string) => void
  readonly onLine: (line: string) => void
}

/** Starts the servers and chains, then the API and the worker, then registers the sample agents. */
export async function start(settings: Settings, options: StartOptions): Promise<Addresses> {
  const { cleanup, signal, onExit } = options
  /** The name of the run's database and the prefix of its Redis keys. */
  const run = `market_dev_${randomBytes(6).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'market-dev-'))
  cleanup.add('the temporary folder', () => rmSync(folder, { recursive: true, force: true }))

  // The chains take the longest to start, so the servers start at the same time.
  const starting = settings.chains ? startNetworks(options.onLine) : undefined
  cleanup.add('the networks', async () => (await starting?.catch(() => undefined))?.stop())

  const postgres = await (settings.ownServers ? startPostgres() : findPostgres(settings.postgresUrl))
  if (postgres.own !== undefined) cleanup.add('PostgreSQL', postgres.own.stop)
  postgres.own?.exited.then(() => onExit('PostgreSQL'))
  const database = await createRunDatabase(postgres.adminUrl, run)
  cleanup.add(`the database ${run}`, database.drop)
  signal.throwIfAborted()

  const redis = await (settings.ownServers ? startRedis() : findRedis(settings.redisUrl))
  cleanup.add('Redis', redis.own?.stop ?? (() => deleteKeys(redis.url, `${run}:`)))
  for (const killed of database.abandoned) await deleteKeys(redis.url, `${killed}:`)
  redis.own?.exited.then(() => onExit('Redis'))
  signal.throwIfAborted()

  const idp = await startIdp()
  cleanup.add('the identity provider', idp.stop)

  const networks = await starting
  networks?.exited.then(() => onExit('The networks'))
  signal.throwIfAborted()

  const clockFile = join(folder, 'clock')
  const { control, url, apiPort } = await startControl(settings.port, (port) =>
    buildControl({ clock: movableClock(clockFile, apiTimeOf(urlOf(port))), idp, networks }),
  )
  cleanup.add('the control server', () => control.close())
  signal.throwIfAborted()

  const adminKey = `adm_${randomBytes(24).toString('base64url')}`
  const apiUrl = urlOf(apiPort)
  const keys = newKeySettings()
  const common = {
    MARKET_ENV: 'development',
    ...keys.both,
    ...networks?.settings,
    CLOCK_FILE: clockFile,
    // Several environments can share one server.
    DATABASE_POOL: '5',
    LOG_LEVEL: 'info',
    HOST,
  }
  const programs = {
    api: {
      DATABASE_URL: urlOfRole(database.url, 'api'),
      ...keys.api,
      ...apiSettings({ redisUrl: redis.url, redisPrefix: `${run}:`, idp }),
      ...operatorSettings(adminKey),
      BASE_URL: apiUrl,
      APP_URL: apiUrl,
      PORT: String(apiPort),
    },
    worker: {
      DATABASE_URL: urlOfRole(database.url, 'worker'),
      ...keys.worker,
      ...networks?.keys,
      PORT: '0',
    },
  }
  for (const name of ['api', 'worker'] as const) {
    const program = await startProgram(name, folder, { ...common, ...programs[name] }, options.onLine)
    cleanup.add(`the ${name}`, program.stop)
    program.exited.then(() => onExit(`The ${name}`, program.lastLines()))
    signal.throwIfAborted()
  }

  await registerSampleAgents(apiCaller(apiUrl), idp)
  signal.throwIfAborted()
  return {
    api: apiUrl,
    // The API serves the pages for browsers until there is a separate console.
    app: apiUrl,
    control: url,
    postgres: database.url,
    redis: redis.url,
    idp: idp.issuer,
    networks: networks?.addresses ?? {},
    admin_key: adminKey,
  }
}

const urlOf = (port: number): string => `http://${HOST}:${port}`

/** Reads the API's clock from the message to sign; the wallet is a placeholder. */
const apiTimeOf = (apiUrl: string) => async () => {
  const { wallet_sig_ts } = await apiCaller(apiUrl)(`/api/auth/message?wallet=0x${'1'.repeat(40)}`)
  return new Date(Number(wallet_sig_ts))
}

interface ApiDeps {
  readonly redisUrl: string
  readonly redisPrefix: string
  readonly idp: Idp
}

const apiSettings = ({ redisUrl, redisPrefix, idp }: ApiDeps) => ({
  REDIS_URL: redisUrl,
  REDIS_PREFIX: redisPrefix,
  IDP_ISSUER: idp.issuer,
  IDP_AUDIENCE: idp.audience,
  DRAIN_MS: '0',
  // Callers on this machine can set X-Forwarded-For and so act as many clients with separate rate limits.
  TRUSTED_PROXIES: HOST,
})

const operatorSettings = (adminKey: string) => ({
  ADMIN_USER_IDS: userIdOf(OPERATOR),
  ADMIN_KEY_HASHES: `dev:${createHash('sha256').update(adminKey).digest('hex')}`,
})
