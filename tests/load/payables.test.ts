import type { Chain } from '@market/core/ports/chain'
import { openPool } from '@market/database/connect'
import type { Tables } from '@market/database/tables'
import { systemClock } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { countPayable, listPayable, listTrending } from '@market/trade/x402'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planOf, type Statement } from './listing-statements.ts'
import { fillWithListings } from './many-listings.ts'
import { fillWithOrders } from './many-paid-orders.ts'

const LISTINGS = Number(process.env['LISTINGS'] ?? 200_000)
const ORDERS = Number(process.env['ORDERS'] ?? 200_000)

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await testDatabase()
  pool = openPool({ url: database.url, maxConnections: 1 })
  await fillWithListings(database.url, LISTINGS)
  await fillWithOrders(database.url, ORDERS)
  // Every other agent has a wallet of its own, as it has when it registers.
  await pool.query(`
    insert into agent_wallets (agent_id, chain, address, secret_sealed, created_at)
    select id, 'solana', id, '\\x02${'00'.repeat(88)}', now() from agents where right(id, 1)::integer % 2 = 0`)
  await pool.query('vacuum analyze agent_wallets')
}, 600_000)
afterAll(async () => {
  await pool.end()
  await database.stop()
})

/** The chain is never queried; it only has to be configured. */
const openOn = (networks: readonly Network[]) =>
  Object.fromEntries(networks.map((network) => [network, { network } as Chain]))

/** The very statements the api sends. */
async function heardOf(networks: readonly Network[], ask: (ctx: Asking) => Promise<unknown>) {
  const heard: Statement[] = []
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      heard.push({ sql: query.sql, parameters: [...query.parameters] })
    },
  })
  const answer = await ask({
    db,
    clock: systemClock,
    chains: openOn(networks),
    facilitators: {},
    minPrice: usdc(100_000n),
  })
  return { heard, answer }
}

type Asking = Parameters<typeof listPayable>[0]

const page = (asked: Partial<Parameters<typeof listPayable>[1]>) => (ctx: Asking) =>
  listPayable(ctx, { limit: 50, ...asked })

const ASKED: readonly (readonly [string, readonly Network[], (ctx: Asking) => Promise<unknown>])[] = [
  ['all', NETWORKS, page({})],
  ['a whole page', NETWORKS, page({ limit: 200 })],
  ['on one chain', NETWORKS, page({ networks: ['base-mainnet'] })],
  ['on the other', NETWORKS, page({ networks: ['solana-mainnet'] })],
  ['a category', NETWORKS, page({ category: 'coding' })],
  ['a rare category', NETWORKS, page({ category: 'influencer', networks: ['solana-mainnet'] })],
  ['common words', NETWORKS, page({ search: 'logo design' })],
  ['a rare title', NETWORKS, page({ search: 'Falcon 4242' })],
  ['words with filters', NETWORKS, page({ search: 'code review', category: 'coding' })],
  ['words that are nowhere', NETWORKS, page({ search: 'qqqqq zzzzz' })],
  ['the end of the directory', NETWORKS, page({ limit: 100, offset: 2_900 })],
  ['the count of the directory', NETWORKS, (ctx) => countPayable(ctx, { most: 3_000 })],
  ['what is bought lately', NETWORKS, (ctx) => listTrending(ctx, { limit: 20, windowDays: 7 })],
  ['what was bought in 90 days', ['base-mainnet'], (ctx) => listTrending(ctx, { limit: 50, windowDays: 90 })],
]

test.each(ASKED)('no list reads a whole table: %s', async (_, networks, ask) => {
  const { heard } = await heardOf(networks, ask)
  expect(heard.length).toBeGreaterThan(0)
  for (const statement of heard)
    expect(await planOf(pool, statement)).not.toMatch(/Seq Scan on (listings|orders|agent_wallets)/)
})

test('a page deep in the list is found by the index, not by skipping', async () => {
  let cursor: string | undefined
  for (let read = 0; read < 20; read++) {
    const { answer } = await heardOf(NETWORKS, page({ limit: 200, cursor }))
    const { found, nextCursor } = answer as Awaited<ReturnType<typeof listPayable>>
    cursor = nextCursor(found.length) ?? undefined
  }
  const { heard } = await heardOf(NETWORKS, page({ cursor }))
  const plan = await planOf(pool, heard[0] as Statement)
  expect(plan).not.toMatch(/Seq Scan|Sort/)
  expect(plan).toMatch(/Index Cond: .*ROW\(/)
})
