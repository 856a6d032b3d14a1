import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Network } from '@market/kernel/network'
import { startDnsServer } from '@market/testing/dns-server'
import { deployVault } from '@market/testing/evm-venues'
import { startIdp } from '@market/testing/idp'
import { startRedis } from '@market/testing/redis'
import { startTcpProxy, type TestTcpProxy } from '@market/testing/tcp-proxy'
import pg from 'pg'
import { startOwnPostgres } from '../../support/own-postgres.ts'
import { seededRandom } from '../../support/payout-random.ts'
import { startEvmTestChain } from './evm-test-chain.ts'
import { HEALTHY, type Relay, startRelay } from './relay.ts'
import { startSolanaTestChain } from './solana-test-chain.ts'
import type { TestChain } from './test-chain.ts'
import { startWebhookEndpoints } from './webhook-endpoints.ts'

export const ALT = { chainId: 42_161, usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' } as const
export const PUBLIC_ADDRESS = '93.184.216.34'

export type Environment = Awaited<ReturnType<typeof startEnvironment>>

interface ChainSettings {
  readonly slotMs?: number
  readonly epochSlots?: number
}

/** The servers and chains that the app uses, each behind a proxy or relay that can inject faults. */
export async function startEnvironment(seed: number, { slotMs, epochSlots }: ChainSettings = {}) {
  const random = seededRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'market-faults-'))
  const [postgres, redis, base, alt, solana, idp, dns, webhookEndpoints] = await Promise.all([
    startOwnPostgres(),
    startRedis(),
    startEvmTestChain('base-mainnet', { chainId: 8453 }, epochSlots),
    startEvmTestChain('alt-mainnet', ALT, epochSlots),
    startSolanaTestChain(slotMs),
    startIdp(),
    startDnsServer(),
    startWebhookEndpoints(seed),
  ])
  // Deep below what a reorganization takes back, because wallets are funded afterwards.
  const vault = await deployVault(base.chain, 'lending')
  // Each run copies this database, and Postgres allows that only without connections.
  await postgres.db.destroy()
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, webhookEndpoints.ca)

  const testChains: Readonly<Record<Network, TestChain>> = {
    'base-mainnet': base,
    'alt-mainnet': alt,
    'solana-mainnet': solana,
  }
  const relays = new Map<Network, readonly Relay[]>()
  for (const { network, url, kind } of Object.values(testChains))
    relays.set(network, await Promise.all([startRelay(url, kind, random), startRelay(url, kind, random)]))
  const allRelays = [...relays.values()].flat()

  const portOf = (url: string) => Number(new URL(url).port)
  const proxyTo = (url: string) => startTcpProxy({ host: '127.0.0.1', port: portOf(url) })
  const proxies: Readonly<Record<'postgresOfApi' | 'postgresOfWorker' | 'redis', TestTcpProxy>> = {
    postgresOfApi: await proxyTo(postgres.url),
    postgresOfWorker: await proxyTo(postgres.url),
    redis: await proxyTo(redis.url),
  }
  const urlOf = (name: string) => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
  let databases = 0

  return {
    folder,
    postgres,
    redis,
    testChains,
    vault,
    evm: [base, alt],
    solana,
    idp,
    dns,
    webhookEndpoints,
    caFile,
    proxies,
    relays: allRelays,
    relayUrls: (network: Network) => (relays.get(network) ?? []).map(({ url }) => url).join(),
    relaysOf: (network: Network) => relays.get(network) ?? [],
    /** A new database of the marketplace; its own address, and those through the proxies. */
    async newDatabase() {
      const name = `market_${++databases}`
      const client = new pg.Client({ connectionString: urlOf('template1') })
      await client.connect()
      await client.query(`create database ${name} template postgres`)
      await client.end()
      const through = ({ port }: TestTcpProxy) => Object.assign(new URL(urlOf(name)), { port }).href
      return {
        url: urlOf(name),
        ofApi: through(proxies.postgresOfApi),
        ofWorker: through(proxies.postgresOfWorker),
      }
    },
    heal: () => {
      for (const proxy of Object.values(proxies)) proxy.set({ latencyMs: 0, blackhole: false, reject: false })
      for (const relay of allRelays) relay.set(HEALTHY)
    },
    stop: async () => {
      await Promise.all([...allRelays, ...Object.values(proxies)].map((one) => one.stop()))
      await Promise.all([
        base.stop(),
        alt.stop(),
        solana.stop(),
        idp.stop(),
        dns.stop(),
        webhookEndpoints.stop(),
      ])
      await Promise.all([redis.stop(), postgres.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
