import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '@market/database/connect'
import { startRedis } from '@market/testing/redis'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { relayTo } from '../chains/node-relay.ts'
import { startJourneys } from '../journeys/order-journeys.ts'
import { startOrderLoad } from '../operations/order-load.ts'
import { runBundled } from '../support/market.ts'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { until } from '../support/until.ts'
import { report } from './bench-report.ts'
import { openAppServices } from './order-app.ts'

/** What one order adds to the disk, the log and Redis, and how often it asks the nodes. For docs/operations/scale.md. */
const ORDERS = Number(process.env['ORDERS'] ?? 1_000)
const CONNECTIONS = 8
const PAIRS = 40
const PAID_ORDERS = Number(process.env['PAID_ORDERS'] ?? 40)
const BUYERS = Number(process.env['BUYERS'] ?? 8)
const IDLE_MS = 20_000

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`

async function measureStorage(): Promise<void> {
  const [server, redis] = [await startOwnPostgres(), await startRedis()]
  const db = connect({ url: server.url, maxConnections: CONNECTIONS, preparedStatements: 'in_transactions' })
  const app = openAppServices(db, redis.url)
  const info = new Redis(redis.url)
  const readSizes = async () => {
    const { rows } = await sql<{ bytes: number; wal: number; commits: number; name: string; size: number }>`
      select c.relname as name, pg_total_relation_size(c.oid)::float8 as size,
        (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as wal
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname in ('public', 'graphile_worker')`.execute(db)
    const stats = `${await info.info('stats')}${await info.info('commandstats')}${await info.info('memory')}`
    const numberOf = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(stats)?.[1])
    const scripts = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)]
    return {
      tables: new Map(rows.map(({ name, size }) => [name, size])),
      wal: rows[0]?.wal ?? 0,
      scripts: scripts.reduce((sum, [, calls]) => sum + Number(calls), 0),
      network: numberOf('total_net_input_bytes') + numberOf('total_net_output_bytes'),
      memory: numberOf('used_memory'),
    }
  }
  try {
    await app.ready()
    const pairs = await app.makePairs(PAIRS)
    // Small tables grow by whole pages, so the first orders are not counted.
    const run = async (orders: number) => {
      let left = orders
      const loop = async () => {
        while (left-- > 0) {
          const pair = pairs[left % pairs.length]
          if (pair !== undefined) await app.live(pair)
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, loop))
    }
    await run(ORDERS)
    const before = await readSizes()
    await run(ORDERS)
    const after = await readSizes()
    const growth = [...after.tables].map(([name, size]) => ({
      name,
      bytes: (size - (before.tables.get(name) ?? 0)) / ORDERS,
    }))
    const total = growth.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { name, bytes } of growth.toSorted((a, b) => b.bytes - a.bytes).slice(0, 12))
      console.log(`${name}: ${bytes.toFixed(0)} bytes per order`)
    const per = (of: 'wal' | 'scripts' | 'network' | 'memory') => (after[of] - before[of]) / ORDERS
    report([
      { what: `tables and indexes per order (${ORDERS})`, measured: kilobytes(total), aim: '', cpu: '' },
      { what: 'write-ahead log per order', measured: kilobytes(per('wal')), aim: '', cpu: '' },
      {
        what: 'Redis per order (4 requests)',
        measured: `${per('scripts').toFixed(1)} scripts, ${kilobytes(per('network'))} of traffic, ${kilobytes(per('memory'))} of memory`,
        aim: '',
        cpu: '',
      },
    ])
  } finally {
    info.disconnect()
    await app.stop()
    await db.destroy()
    await Promise.all([server.stop(), redis.stop()])
  }
}

type Relay = Awaited<ReturnType<typeof relayTo>>

async function measureRpc(): Promise<void> {
  const relays: Relay[] = []
  const relayed = async (url: string): Promise<Relay> => {
    const relay = await relayTo(url)
    relays.push(relay)
    return relay
  }
  let nodeUrl = ''
  const world = await startJourneys({
    networks: ['base-mainnet'],
    run: async (environment) => {
      nodeUrl = environment['BASE_RPC_URLS'] ?? ''
      await relayed(nodeUrl)
      await relayed(nodeUrl)
      return runBundled({ ...environment, BASE_RPC_URLS: relays[0]?.url ?? '' })
    },
    workerSettings: () => ({ BASE_RPC_URLS: relays[1]?.url ?? '' }),
  })
  const calls = () => relays.map((relay) => relay.methods().length)
  const requests = () => relays.map((relay) => relay.requests())
  try {
    await wait(IDLE_MS / 4)
    const [, idleCalls = 0] = calls()
    const [, idleRequests = 0] = requests()
    await wait(IDLE_MS)
    const perSecond = (((calls()[1] ?? 0) - idleCalls) * 1_000) / IDLE_MS
    const requestsPerSecond = (((requests()[1] ?? 0) - idleRequests) * 1_000) / IDLE_MS
    const began = performance.now()
    const [apiBefore = 0, workerBefore = 0] = calls()
    const load = startOrderLoad(world, BUYERS)
    await until('orders are paid out', () => load.completed() >= PAID_ORDERS || load.errors().length > 0, {
      withinMs: 600_000,
    })
    await load.stop()
    for (const error of load.errors()) throw error
    const paid = load.completed()
    const seconds = (performance.now() - began) / 1_000
    const [apiAfter = 0, workerAfter = 0] = calls()
    const worker = (workerAfter - workerBefore - perSecond * seconds) / paid
    report([
      {
        what: 'RPC of a worker without orders, one network',
        measured: `${perSecond.toFixed(1)} calls in ${requestsPerSecond.toFixed(1)} requests a second`,
        aim: '',
        cpu: '',
      },
      {
        what: `RPC per order with its payment and payout (${paid} of ${BUYERS} buyers in ${seconds.toFixed(0)} s)`,
        measured: `api ${((apiAfter - apiBefore) / paid).toFixed(1)} calls, worker ${worker.toFixed(1)} more`,
        aim: '',
        cpu: '',
      },
    ])
  } finally {
    await world.stop()
    await Promise.all(relays.map((relay) => relay.stop()))
  }
}

await measureStorage()
await measureRpc()
