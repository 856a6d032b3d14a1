import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '@market/database/connect'
import { NETWORKS, type Network } from '@market/kernel/network'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'
import { sql } from 'kysely'
import type { Address } from 'viem'
import { operatorToken } from '../../support/operator.ts'
import { startApi, startWorker } from '../../support/processes.ts'
import { apiEnvironment, sharedKeys, WALLET_SEAL } from '../../support/settings.ts'
import { until } from '../../support/until.ts'
import { ALT, type Environment, PUBLIC_ADDRESS } from './environment.ts'
import { supervise } from './supervisor.ts'

export type AppServices = Awaited<ReturnType<typeof startApp>>

const HOOKS = fileURLToPath(new URL('seed-bug.ts', import.meta.url))
const CLOCK_IS_READ_MS = 60
/** Longer than one of them may take to say why it does not come up. */
const UP_WITHIN_MS = 130_000

const earnMarketOf = ({ vault }: Environment) => ({
  ...{ venue: 'test', market: 'usdc', kind: 'lending', label: 'USDC in a vault' },
  ...{ network: 'base-mainnet', vault: vault.address },
})

/** A bug that is put into the programs while they are read, and into the database before. */
interface SeededBug {
  readonly name: string
  readonly sql?: readonly string[]
}

/** A marketplace of its own: a new database, empty treasuries, two api and two worker processes that are kept running. */
export async function startApp(environment: Environment, bug?: SeededBug) {
  const { testChains, idp } = environment
  const folder = mkdtempSync(join(environment.folder, 'app-'))
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const database = await environment.newDatabase()
  const db = connect({ url: database.url, maxConnections: 4, timeoutFactor: TIMEOUT_FACTOR })
  for (const statement of bug?.sql ?? []) await sql.raw(statement).execute(db)

  const newAccounts = () =>
    Promise.all([
      testChains['base-mainnet'].newAccount(),
      testChains['alt-mainnet'].newAccount(),
      testChains['solana-mainnet'].newAccount(),
    ])
  const [base, alt, solana] = await newAccounts()
  const [gasOnBase, gasOnAlt, gasOnSolana] = await newAccounts()
  const [payoutGasOnBase, payoutGasOnAlt] = await newAccounts()
  const venueWallet = await testChains['base-mainnet'].newAccount()
  const treasuries: Readonly<Record<Network, string>> = {
    'base-mainnet': base.address,
    'alt-mainnet': alt.address,
    'solana-mainnet': solana.address,
  }
  const redisUrl = `redis://127.0.0.1:${environment.proxies.redis.port}`
  const redisPrefix = `faults:${randomBytes(6).toString('hex')}`
  const api = apiEnvironment({ databaseUrl: database.ofApi, redisUrl, redisPrefix, idp })
  const gasKeys = {
    SOLANA_GAS_KEY: gasOnSolana.key,
    BASE_GAS_KEY: gasOnBase.key,
    ALT_GAS_KEY: gasOnAlt.key,
  }
  const common = {
    CLOCK_FILE: clockFile,
    DATABASE_POOL: '6',
    DNS_SERVERS: `127.0.0.1:${environment.dns.port}`,
    OUTBOUND_REROUTE: `${PUBLIC_ADDRESS}=127.0.0.1:${environment.webhookEndpoints.port}`,
    OUTBOUND_CA_FILE: environment.caFile,
    TIMEOUT_FACTOR: '1',
    RPC_TIMEOUT_MS: '700',
    ONE_PROVIDER: 'off',
    SOLANA_RPC_URLS: environment.relayUrls('solana-mainnet'),
    SOLANA_GENESIS_HASH: environment.solana.genesisHash,
    SOLANA_TREASURY: solana.address,
    BASE_RPC_URLS: environment.relayUrls('base-mainnet'),
    BASE_TREASURY: base.address,
    BASE_CONFIRMATIONS: '0:1',
    ALT_RPC_URLS: environment.relayUrls('alt-mainnet'),
    ALT_TREASURY: alt.address,
    ALT_CONFIRMATIONS: '0:1',
    ALT_CHAIN_ID: String(ALT.chainId),
    ALT_USDC: ALT.usdc,
    EARN_MARKETS: JSON.stringify([earnMarketOf(environment)]),
    BASE_VENUE_WALLET: venueWallet.address,
    SOLANA_GAS_ACCOUNT: gasOnSolana.address,
    BASE_GAS_ACCOUNT: gasOnBase.address,
    ALT_GAS_ACCOUNT: gasOnAlt.address,
    ...gasKeys,
    ...(bug !== undefined && {
      SEEDED_BUG: bug.name,
      // Processes are killed every few seconds: without the cache most of their time would go into compiling the sources.
      NODE_COMPILE_CACHE: join(tmpdir(), 'market-faults-compiled'),
    }),
  }
  const keys = {
    SOLANA_TREASURY_KEY: solana.key,
    BASE_TREASURY_KEY: base.key,
    ALT_TREASURY_KEY: alt.key,
    BASE_PAYOUT_GAS_KEYS: payoutGasOnBase.key,
    ALT_PAYOUT_GAS_KEYS: payoutGasOnAlt.key,
    BASE_VENUE_KEY: venueWallet.key,
  }
  const caps = {
    PAYOUT_DAY_CAP_USDC: '1000000',
    PAYOUT_PAYEE_DAY_CAP_USDC: '1000000',
    SOLANA_ACCOUNT_MINIMUM_USDC: '0',
    SOLANA_GAS_BUDGET: '100000000000',
    BASE_GAS_BUDGET_GWEI: '100000000000',
    ALT_GAS_BUDGET_GWEI: '100000000000',
  }
  const shared = sharedKeys(api)
  const worker = { ...shared, LOG_LEVEL: 'info', DATABASE_URL: database.ofWorker }
  // The hooks change source files while they are loaded, so a program with a bug runs from its sources.
  const how = bug === undefined ? {} : ({ nodeOptions: ['--import', HOOKS], from: 'sources' } as const)
  const newApi = () => supervise(() => startApi({ ...api, ...common }, how))
  const newWorker = () => supervise(() => startWorker({ ...worker, ...common, ...keys, ...caps }, how))
  const apis = [newApi()]
  const workers = [newWorker()]
  const all = [...apis, ...workers]
  const areUp = () =>
    until('all processes are up', () => all.every(({ url }) => url() !== undefined), {
      withinMs: UP_WITHIN_MS,
    }).catch((error) => {
      const why = all.filter(({ url }) => url() === undefined).map((one) => one.errors().slice(-2).join('\n'))
      throw new Error(`${error}: ${why.join('\n---\n').slice(-6_000)}`)
    })
  const stop = async () => {
    await Promise.all(all.map((one) => one.stop()))
    await db.destroy()
  }
  const mustBeUp = () =>
    areUp().catch(async (error) => {
      await stop()
      throw error
    })
  await mustBeUp()
  // With a bug, the second of each loads what the first has written to the compile cache.
  apis.push(newApi())
  workers.push(newWorker())
  all.push(...apis.slice(1), ...workers.slice(1))
  await mustBeUp()
  let ahead = 0
  let turn = 0
  return {
    db,
    treasuries,
    /** Holds the shares of the vault. */
    venueWallet: venueWallet.address as Address,
    apis,
    workers,
    areUp,
    stop,
    /** Each of the api processes in turn, whether it lives or not. */
    apiUrl: () => apis[turn++ % apis.length]?.url(),
    adminToken: () => operatorToken({ idp }),
    /** The time the processes live in. */
    now: () => Date.now() + ahead,
    async jump(ms: number) {
      ahead += ms
      writeFileSync(clockFile, String(ahead))
      await wait(CLOCK_IS_READ_MS)
    },
    secrets: [
      ...Object.values(keys),
      ...Object.values(gasKeys),
      ...[...Object.values(shared), ...Object.values(WALLET_SEAL.worker)].map(
        (key) => key.split(':').at(-1) ?? '',
      ),
    ],
    output: () => all.map((one) => one.output()).join(''),
    settings: { ...common, ...keys },
    networks: NETWORKS,
  }
}
