import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@market/database/connect'
import { urlOfRole } from '@market/database/roles'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'
import { vaultOf } from '@market/platform/settings/vault'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { ADMIN_CLIENT_ID, CLI_CLIENT_ID, type Idp, startIdp } from '@market/testing/idp'
import { startS3Server } from '@market/testing/s3-server'
import { hasSurfpool } from '@market/testing/surfpool'
import { apiCaller } from './call-api.ts'
import { devClock } from './clock.ts'
import type { Settings } from './config.ts'
import { buildControl, startControl } from './control.ts'
import type { NetworkAddresses } from './networks/network.ts'
import { startNetworks } from './networks/start-networks.ts'
import { filesPortOf, freePort, HOST, randomPort } from './ports.ts'
import { findPostgres, startPostgres } from './postgres.ts'
import { startProgram } from './program.ts'
import { deleteKeys, findRedis, startRedis } from './redis.ts'
import { type RestartableProgram, startRestartable } from './restartable-program.ts'
import { createRunDatabase } from './run-database.ts'
import { registerSampleAgents, type SampleService } from './sample-agents.ts'
import { startSampleSeller } from './sample-seller.ts'
import { addOperator, OPERATOR, userIdOf } from './sample-users.ts'
import type { StartOptions } from './start-options.ts'
import { isWebBuilt, startWeb } from './web.ts'
import { webhookForwards } from './webhook-forwards.ts'

/** The addresses of one run; `--json` prints this object. */
export interface Addresses {
  readonly api: string
  readonly app: string
  /** The pages for people, on the origin of the API; null until `npm run build:web` has made them. */
  readonly web: string | null
  /** The origin of uploaded files. */
  readonly files: string
  readonly control: string
  readonly postgres: string
  readonly redis: string
  readonly idp: string
  /** Empty with `--no-chains`. */
  readonly networks: Readonly<Partial<Record<Network, NetworkAddresses>>>
  /** The service of the sample agent that really delivers. */
  readonly sample_service: SampleService
  readonly admin_key: string
  /** What `npm run admin` needs to sign the operator in. */
  readonly admin: { readonly client_id: string; readonly audience: string }
}

/** Starts the servers and chains, then the API and the worker, then registers the sample agents. */
export async function start(settings: Settings, options: StartOptions): Promise<Addresses> {
  const { cleanup, signal, onExit, onProgress } = options
  /** The name of the run's database and the prefix of its Redis keys. */
  const run = `market_dev_${randomBytes(6).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'market-dev-'))
  cleanup.add('the temporary folder', () => rmSync(folder, { recursive: true, force: true }))

  // The chains take the longest to start, so the servers start at the same time.
  onProgress(settings.chains ? 'Starting the chains, PostgreSQL and Redis' : 'Starting PostgreSQL and Redis')
  const starting = settings.chains
    ? startNetworks({ solana: useSolana(settings, options) }, options.onLine)
    : undefined
  cleanup.add('the networks', async () => (await starting?.catch(() => undefined))?.stop())

  const postgres = await (settings.ownServers ? startPostgres() : findPostgres(settings.postgresUrl))
  if (postgres.own !== undefined) cleanup.add('PostgreSQL', postgres.own.stop)
  postgres.own?.exited.then(() => onExit('PostgreSQL'))
  onProgress('Creating the database')
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
  addOperator(idp)
  const s3 = await startS3Server()
  cleanup.add('the storage of files', s3.stop)

  if (starting !== undefined) onProgress('Waiting for the chains')
  const networks = await starting
  networks?.exited.then(() => onExit('The networks'))
  signal.throwIfAborted()

  const keys = newKeySettings()
  const files = { CLOCK_FILE: join(folder, 'clock'), OUTBOUND_FORWARD_FILE: join(folder, 'forwards') }
  const db = connect({ url: database.url, maxConnections: 1, applicationName: 'agent-market-dev' })
  cleanup.add('the database connection', () => db.destroy())
  const clock = devClock(files.CLOCK_FILE, async (at) => networks?.untilBlocksAt(at))
  const running = new Map<'api' | 'worker', RestartableProgram>()
  const { control, url, apiPort } = await startControl(settings.port, (port) =>
    buildControl({
      clock,
      idp,
      networks,
      forwards: webhookForwards({
        file: files.OUTBOUND_FORWARD_FILE,
        db,
        vault: vaultOf({ ...keys.both, ...keys.api }),
        call: apiCaller(urlOf(port)),
      }),
      resetLimits: () => deleteKeys(redis.url, `${run}:limit:`),
      restart: async (name) => {
        const program = running.get(name)
        if (program === undefined) throw new ApiError('invalid', `The ${name} is not up yet.`)
        await program.restart()
      },
    }),
  )
  cleanup.add('the control server', () => control.close())
  signal.throwIfAborted()

  const adminKey = `adm_${randomBytes(24).toString('base64url')}`
  const apiUrl = urlOf(apiPort)
  const filesPort = await filesPortOf(apiPort)
  const hasPages = settings.web || isWebBuilt()
  // With the pages, a proxy has the port of the API and puts both on one origin, as in production.
  const ownApiPort = hasPages ? await freePort(randomPort()) : apiPort
  const common = {
    MARKET_ENV: 'development',
    ...keys.both,
    ...networks?.settings,
    ...files,
    ...s3.settings,
    LIMITS_RESET_URL: `${url}/limits/reset`,
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
      ...(hasPages && { PAGES_URL: apiUrl }),
      FILES_URL: urlOf(filesPort),
      FILES_PORT: String(filesPort),
      IDP_CLIENT_ID: idp.addLoginClient(`${apiUrl}/auth/callback`),
      PORT: String(ownApiPort),
    },
    worker: {
      DATABASE_URL: urlOfRole(database.url, 'worker'),
      ...keys.worker,
      ...networks?.keys,
      BASE_URL: apiUrl,
      PORT: '0',
    },
  }
  for (const name of ['api', 'worker'] as const) {
    onProgress(`Starting the ${name}`)
    const program = await startRestartable(
      () => startProgram(name, folder, { ...common, ...programs[name] }, options.onLine),
      (lastLines) => onExit(`The ${name}`, lastLines),
    )
    cleanup.add(`the ${name}`, program.stop)
    running.set(name, program)
    signal.throwIfAborted()
  }

  if (hasPages)
    await startWeb(
      {
        ...{ apiUrl: urlOf(ownApiPort), filesUrl: urlOf(filesPort), origin: apiUrl, folder },
        ...{ isLive: settings.web, solanaNode: networks?.addresses['solana-mainnet']?.rpc },
      },
      options,
    )

  onProgress('Registering the sample agents')
  const seller = await registerSampleAgents(apiCaller(apiUrl), idp, networks)
  const sellerProgram = startSampleSeller(apiUrl, seller.apiKey)
  cleanup.add('the sample seller', sellerProgram.stop)
  signal.throwIfAborted()
  return {
    api: apiUrl,
    app: apiUrl,
    web: hasPages ? apiUrl : null,
    files: urlOf(filesPort),
    control: url,
    postgres: database.url,
    redis: redis.url,
    idp: idp.issuer,
    networks: networks?.addresses ?? {},
    sample_service: seller.service,
    admin_key: adminKey,
    admin: { client_id: ADMIN_CLIENT_ID, audience: idp.audience },
  }
}

/** Solana runs unless the user left it out or its node has no build for this machine. */
function useSolana({ solana }: Settings, { onNotice }: StartOptions): boolean {
  if (!solana || hasSurfpool()) return solana
  onNotice(`Starting without Solana: Surfpool has no build for ${process.platform} on ${process.arch}.`)
  return false
}

const urlOf = (port: number): string => `http://${HOST}:${port}`

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
  IDP_CLI_CLIENT_ID: CLI_CLIENT_ID,
  DRAIN_MS: '0',
  // Callers on this machine can set X-Forwarded-For and so act as many clients with separate rate limits.
  TRUSTED_PROXIES: HOST,
})

const operatorSettings = (adminKey: string) => ({
  ADMIN_USER_IDS: userIdOf(OPERATOR),
  ADMIN_KEY_HASHES: `dev:${createHash('sha256').update(adminKey).digest('hex')}`,
})
