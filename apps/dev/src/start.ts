import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Network } from '@market/kernel/network'
import { type Idp, startIdp } from '@market/testing/idp'
import { apiCaller } from './call-api.ts'
import { movableClock } from './clock.ts'
import type { Closing } from './closing.ts'
import type { Settings } from './config.ts'
import { buildControl, openControl } from './control.ts'
import type { NetworkPlace } from './networks/network.ts'
import { startNetworks } from './networks/start-networks.ts'
import { OPERATOR, personId } from './people.ts'
import { HOST } from './ports.ts'
import { findPostgres, startPostgres } from './postgres.ts'
import { startProgram } from './program.ts'
import { findRedis, forgetKeys, startRedis } from './redis.ts'
import { createRunDatabase } from './run-database.ts'
import { registerSampleAgents } from './sample-agents.ts'

/** What a program that started us needs to know; printed as it is by `--json`. */
export interface Addresses {
  readonly api: string
  readonly app: string
  readonly control: string
  readonly postgres: string
  readonly redis: string
  readonly idp: string
  /** Empty with `--no-chains`. */
  readonly networks: Readonly<Partial<Record<Network, NetworkPlace>>>
  readonly admin_key: string
}

export interface Surroundings {
  readonly closing: Closing
  /** Aborted when we are told to stop before everything is up. */
  readonly signal: AbortSignal
  /** Told when a part ends that nobody stopped. */
  readonly onDeath: (what: string, lastLines?: string) => void
  readonly onLine: (line: string) => void
}

/** Reads top to bottom: what the programs stand on, the programs, and those who use them. */
export async function start(settings: Settings, around: Surroundings): Promise<Addresses> {
  const { closing, signal, onDeath } = around
  /** Names the run's database and begins its Redis keys. */
  const run = `market_dev_${randomBytes(6).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'market-dev-'))
  closing.note('the temporary folder', () => rmSync(folder, { recursive: true, force: true }))

  // The chains take the longest; the others come up beside them.
  const starting = settings.chains ? startNetworks(around.onLine) : undefined
  closing.note('the networks', async () => (await starting?.catch(() => undefined))?.stop())

  const postgres = await (settings.ownServers ? startPostgres() : findPostgres(settings.postgresUrl))
  if (postgres.own !== undefined) closing.note('PostgreSQL', postgres.own.stop)
  postgres.own?.exited.then(() => onDeath('PostgreSQL'))
  const database = await createRunDatabase(postgres.adminUrl, run)
  closing.note(`the database ${run}`, database.drop)
  signal.throwIfAborted()

  const redis = await (settings.ownServers ? startRedis() : findRedis(settings.redisUrl))
  closing.note('Redis', redis.own?.stop ?? (() => forgetKeys(redis.url, `${run}:`)))
  for (const killed of database.abandoned) await forgetKeys(redis.url, `${killed}:`)
  redis.own?.exited.then(() => onDeath('Redis'))
  signal.throwIfAborted()

  const idp = await startIdp()
  closing.note('the identity provider', idp.stop)

  const networks = await starting
  networks?.exited.then(() => onDeath('The networks'))
  signal.throwIfAborted()

  const clockFile = join(folder, 'clock')
  const { control, url, apiPort } = await openControl(settings.port, (port) =>
    buildControl({ clock: movableClock(clockFile, apiTimeOf(urlOf(port))), idp, networks }),
  )
  closing.note('the control server', () => control.close())
  signal.throwIfAborted()

  const adminKey = `adm_${randomBytes(24).toString('base64url')}`
  const apiUrl = urlOf(apiPort)
  const common = {
    DATABASE_URL: database.url,
    ...vaultSecrets(),
    ...networks?.settings,
    CLOCK_FILE: clockFile,
    LOG_LEVEL: 'info',
    HOST,
  }
  const programs = {
    api: {
      ...standingOn({ redisUrl: redis.url, redisPrefix: `${run}:`, idp }),
      ...operators(adminKey),
      BASE_URL: apiUrl,
      APP_URL: apiUrl,
      PORT: String(apiPort),
    },
    worker: { ...networks?.keys, PORT: '0' },
  }
  for (const name of ['api', 'worker'] as const) {
    const program = await startProgram(name, folder, { ...common, ...programs[name] }, around.onLine)
    closing.note(`the ${name}`, program.stop)
    program.exited.then(() => onDeath(`The ${name}`, program.lastLines()))
    signal.throwIfAborted()
  }

  await registerSampleAgents(apiCaller(apiUrl), idp)
  signal.throwIfAborted()
  return {
    api: apiUrl,
    // Until there is a console, what a browser is shown is the api's own pages.
    app: apiUrl,
    control: url,
    postgres: database.url,
    redis: redis.url,
    idp: idp.issuer,
    networks: networks?.places ?? {},
    admin_key: adminKey,
  }
}

const urlOf = (port: number): string => `http://${HOST}:${port}`

/** No address is anybody's; the api says its time with the text it would have signed. */
const apiTimeOf = (apiUrl: string) => async () => {
  const { wallet_sig_ts } = await apiCaller(apiUrl)(`/api/auth/message?wallet=0x${'1'.repeat(40)}`)
  return new Date(Number(wallet_sig_ts))
}

interface Parts {
  readonly redisUrl: string
  readonly redisPrefix: string
  readonly idp: Idp
}

const standingOn = ({ redisUrl, redisPrefix, idp }: Parts) => ({
  REDIS_URL: redisUrl,
  REDIS_PREFIX: redisPrefix,
  IDP_ISSUER: idp.issuer,
  IDP_AUDIENCE: idp.audience,
  DRAIN_MS: '0',
  // Whoever is on this machine may play many clients, each with limits of its own, by X-Forwarded-For.
  TRUSTED_PROXIES: HOST,
})

const vaultSecrets = () => ({
  VAULT_KEYS: `dev:${randomBytes(32).toString('hex')}`,
  VAULT_PEPPER: randomBytes(32).toString('hex'),
})

const operators = (adminKey: string) => ({
  ADMIN_USER_IDS: personId(OPERATOR),
  ADMIN_KEY_HASHES: `dev:${createHash('sha256').update(adminKey).digest('hex')}`,
})
