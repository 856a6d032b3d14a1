import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { connect } from '@market/database/connect'
import { migrate } from '@market/database/migrate'
import pg from 'pg'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { percentile } from '../support/until.ts'
import { fillWithListings } from './many-listings.ts'
import { fillWithOrders } from './many-orders.ts'
import { openAppServices } from './order-app.ts'
import { bare, ours, type Pace, withScripts } from './order-pace.ts'
import { sweep } from './order-sweeps.ts'

/** Whether a market with five million orders behind it is as quick as one with ten thousand. */
const FEW = Number(process.env['FEW'] ?? 10_000)
const MANY = Number(process.env['MANY'] ?? 5_000_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 11)
const SECONDS = Number(process.env['SECONDS'] ?? 8)
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 8)
const course = { seconds: SECONDS, connections: CONNECTIONS }
const PAIRS = Number(process.env['PAIRS'] ?? 40)
const LISTINGS = 2_000
/** What an order and all that belongs to it take on the disk, with room for building indexes; measured. */
const BYTES_PER_ORDER = 12_000

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`
const say = ({ few, many }: { few: Pace; many: Pace }): string =>
  `${few.perSecond.toFixed(0)}/s and ${many.perSecond.toFixed(0)}/s ` +
  `(Postgres ${few.postgresMs.toFixed(1)} ms and ${many.postgresMs.toFixed(1)} ms each)`

function spread(ratios: readonly number[]): string {
  const [least, median, most] = [0, 0.5, 1].map((share) => percentile(ratios, share).toFixed(2))
  return `${median} (rounds from ${least} to ${most})`
}

async function ask(url: string, ...statements: string[]): Promise<pg.QueryResult | undefined> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let last: pg.QueryResult | undefined
    for (const statement of statements) last = await client.query(statement)
    return last
  } finally {
    await client.end()
  }
}

/** Writes a minimal WAL and turns autovacuum off while the database is filled. */
const FILLING = [
  'alter system set wal_level = minimal',
  'alter system set max_wal_senders = 0',
  'alter system set autovacuum = off',
  `alter system set max_wal_size = '8GB'`,
]

/** Sellers and their buyers are there before the orders, so that those have a history, too. */
async function openMarket(url: string, orders: number) {
  await migrate(url)
  await fillWithListings(url, LISTINGS)
  const db = connect({ url, maxConnections: CONNECTIONS })
  const app = openAppServices(db)
  await app.ready()
  return { url, db, app, pairs: await app.makePairs(PAIRS), orders }
}

async function fill({ url, orders }: { url: string; orders: number }): Promise<void> {
  const began = performance.now()
  await fillWithOrders(url, orders)
  const seconds = (performance.now() - began) / 1_000
  const size = await ask(url, 'select pg_database_size(current_database())::float8 as bytes')
  console.log(`${orders} orders: ${gigabytes(size?.rows[0]?.bytes)}, filled in ${seconds.toFixed(0)} s`)
}

const { bavail, bsize } = await statfs(tmpdir())
if (bavail * bsize < MANY * BYTES_PER_ORDER) throw new Error(`only ${gigabytes(bavail * bsize)} are free`)

const server = await startOwnPostgres()
const markets: Awaited<ReturnType<typeof openMarket>>[] = []
try {
  await ask(server.url, ...FILLING, 'checkpoint')
  await server.crashAndRestart()
  for (const [name, orders] of Object.entries({ few: FEW, many: MANY })) {
    await ask(server.url, `create database ${name}`)
    const market = await openMarket(server.url.replace(/postgres$/, name), orders)
    markets.push(market)
    await fill(market)
  }
  await ask(server.url, 'checkpoint', 'alter system reset all')
  await server.crashAndRestart()
  await promisify(execFile)('sync')
  const [few, many] = markets
  if (few === undefined || many === undefined) throw new Error('two markets were opened')

  for (const { url, orders } of markets)
    for (const { name, ms, wholeTables } of await sweep(url))
      console.log(`${orders} orders, ${name}: ${ms.toFixed(2)} ms; ${wholeTables.join('; ') || 'by index'}`)

  await withScripts(few, (scriptsOfFew) =>
    withScripts(many, async (scriptsOfMany) => {
      for (const market of markets) await ours(market, course)
      const [us, pgbench]: [number[], number[]] = [[], []]
      for (let round = 0; round < ROUNDS; round++) {
        // Each goes first as often as the other.
        const both = async (few: () => Promise<Pace>, many: () => Promise<Pace>) => {
          if (round % 2 === 0) return { few: await few(), many: await many() }
          const first = await many()
          return { few: await few(), many: first }
        }
        const own = await both(
          () => ours(few, course),
          () => ours(many, course),
        )
        const theirs = await both(
          () => bare(few, scriptsOfFew, course),
          () => bare(many, scriptsOfMany, course),
        )
        us.push(own.many.perSecond / own.few.perSecond)
        pgbench.push(theirs.many.perSecond / theirs.few.perSecond)
        console.log(`round ${round + 1}: ours ${say(own)}; pgbench ${say(theirs)}`)
      }
      console.log(`ours with ${MANY} orders: ${spread(us)} of the speed with ${FEW}`)
      console.log(`pgbench with ${MANY} orders: ${spread(pgbench)} of the speed with ${FEW}`)
    }),
  )
} finally {
  for (const { db, app } of markets) {
    await app.stop()
    await db.destroy()
  }
  await server.stop()
}
