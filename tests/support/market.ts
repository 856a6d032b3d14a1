import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { buildApp } from '@market/api/build-app'
import { readConfig } from '@market/api/config'
import type { Network } from '@market/kernel/network'
import { startDnsServer } from '@market/testing/dns-server'
import { startIdp } from '@market/testing/idp'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { redisPrefix } from '@market/testing/redis'
import { startS3Server } from '@market/testing/s3-server'
import { type Client, client } from './client.ts'
import { type ChainOptions, startChains } from './market-chains.ts'
import { startPriceSource } from './price-source.ts'
import { type ServerProcess, type StartOptions, startApi, startWorker } from './processes.ts'
import { apiEnvironment, FILES_URL, PUBLIC_ADDRESS, REDIS_URL, sharedKeys } from './settings.ts'

export type Market = Awaited<ReturnType<typeof startMarket<never>>>

interface RunningApi {
  readonly url: string
  /** Everything the api logged so far. */
  logText(): string
  stop(): Promise<void>
}

/** The api in the process of the test. */
async function runHere(environment: Readonly<Record<string, string>>): Promise<RunningApi> {
  const log: string[] = []
  const logTo = new Writable({
    write: (chunk, _encoding, done) => {
      log.push(String(chunk))
      done()
    },
  })
  const app = await buildApp(readConfig(environment), { logTo })
  return { url: await app.listen(), logText: () => log.join(''), stop: () => app.stop() }
}

/** The API in a separate process, started from the bundle. */
export async function runBundled(
  environment: Readonly<Record<string, string>>,
  options?: StartOptions,
): Promise<RunningApi> {
  const api = await startApi(environment, options)
  return { url: api.url, logText: api.output, stop: api.stop }
}

const filesAddressIn = (log: string): string =>
  /"address":"(http:[^"]+)"[^\n]*"msg":"serving files"/.exec(log)?.[1] ?? ''

interface MarketOptions<N extends Network> extends ChainOptions {
  /** Networks with a real chain, on which the marketplace has a treasury; none unless given. */
  readonly chains?: readonly N[]
  /** Starts the api; in the process of the test unless given. */
  readonly run?: (environment: Readonly<Record<string, string>>) => Promise<RunningApi>
  /** A migrated database; a new one on the server of the run unless given. */
  readonly database?: TestDatabase
}

/** The settings of the api that a worker on the same database has too. */
const SHARED = [
  'DATABASE_URL',
  'CLOCK_FILE',
  'DNS_SERVERS',
  'ONE_PROVIDER',
  'BASE_CONFIRMATIONS',
  'ALT_CONFIRMATIONS',
]

/**
 * The API with its own database, Redis keys, identity provider, storage of files, price source and DNS server, and with the
 * chains that are asked for. An empty override removes a setting.
 */
export async function startMarket<N extends Network = never>(
  overrides: Readonly<Record<string, string>> = {},
  { chains: networks = [], run = runHere, database: given, ...options }: MarketOptions<N> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const [database, idp, s3, prices, dns, onChains] = await Promise.all([
    given ?? testDatabase(),
    startIdp(),
    startS3Server(),
    startPriceSource(),
    startDnsServer({ 'hooks.example': [PUBLIC_ADDRESS], 'other.example': [PUBLIC_ADDRESS] }),
    startChains(networks, options),
  ])
  const settings = {
    ...apiEnvironment({ databaseUrl: database.url, redisUrl: REDIS_URL, redisPrefix: redisPrefix(), idp }),
    ...s3.settings,
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    PRICES_URL: prices.url,
    CLOCK_FILE: clockFile,
    ...onChains.settings,
    ...onChains.apiSettings,
    ...overrides,
  }
  const environment: Readonly<Record<string, string>> = Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== ''),
  )
  const api = await run(environment)
  const { url } = api
  const workers: ServerProcess[] = []
  const apis = [api]
  /** Of a worker on the same database and chains. */
  const workerEnvironment = (more: Readonly<Record<string, string>> = {}) => ({
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => SHARED.includes(name))),
    ...sharedKeys(environment),
    ...onChains.settings,
    ...onChains.workerSettings,
    ...more,
  })
  let offsetMs = 0
  return {
    url,
    database,
    db: database.db,
    idp,
    dns,
    s3,
    prices,
    chains: onChains.chains,
    /** The address at which this process serves the file of a public address. */
    fileAt: (publicUrl: string) => publicUrl.replace(FILES_URL, filesAddressIn(api.logText())),
    environment,
    workerEnvironment,
    logText: api.logText,
    client: (): Client => client(url),
    /** A worker process on the same database and chains. It ends with the market at the latest. */
    startWorker: async (
      more: Readonly<Record<string, string>> = {},
      options?: StartOptions,
    ): Promise<ServerProcess> => {
      const worker = await startWorker(workerEnvironment(more), options)
      workers.push(worker)
      return worker
    },
    /** Another api on the same database and chains, in the process of the test. It ends with the market. */
    startApi: async (more: Readonly<Record<string, string>>) => {
      const another = await runHere({ ...environment, ...more })
      apis.push(another)
      return { url: another.url, client: (): Client => client(another.url) }
    },
    now: () => Date.now() + offsetMs,
    /** The time of signatures, which `advance` does not move. */
    wallTime: () => Date.now(),
    /** Moves the API's clock ahead and waits until the API has read it. */
    advance: async (ms: number) => {
      offsetMs += ms
      writeFileSync(clockFile, String(offsetMs))
      await new Promise((resolve) => setTimeout(resolve, 60))
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      await Promise.all(apis.map((one) => one.stop()))
      await Promise.all([database, idp, dns, s3, prices, onChains].map((one) => one.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
