import { openPool } from '@market/database/connect'
import type { Tables } from '@market/database/tables'
import { listAgents } from '@market/identity/agents'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { percentile } from '../support/until.ts'
import { fillWithAgents, NOUNS, SKILLS, TRADES } from './many-agents.ts'

const AGENTS = 100_000
const SEARCHES = 240

let parts: Parts
let api: ServerProcess
let pool: pg.Pool
beforeAll(async () => {
  parts = await startParts()
  pool = openPool({ url: parts.database.url, maxConnections: 1 })
  await fillWithAgents(parts.database.url, AGENTS)
  api = await startApi(parts.environment)
})
afterAll(async () => {
  await api?.stop()
  await pool.end()
  await parts.stop()
})

type Listing = Parameters<typeof listAgents>[1]

interface Query {
  readonly sql: string
  readonly parameters: unknown[]
}

/** The very statement the api sends for a listing. */
async function statementOf(listing: Partial<Listing>): Promise<Query> {
  const heard: Query[] = []
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      heard.push({ sql: query.sql, parameters: [...query.parameters] })
    },
  })
  await listAgents({ db }, { sort: 'popular', limit: 20, ...listing })
  const [statement, ...more] = heard
  if (statement === undefined || more.length > 0) throw new Error('a listing is one statement')
  return statement
}

async function planOf({ sql, parameters }: Query): Promise<string> {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, parameters)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

async function cursorAfter(listing: Partial<Listing>, pages: number): Promise<string> {
  const db = parts.db
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const { agents, nextCursor } = await listAgents(
      { db },
      { sort: 'popular', limit: 100, ...listing, ...(cursor !== undefined && { cursor }) },
    )
    cursor = nextCursor(agents.length) ?? undefined
    if (cursor === undefined) throw new Error('the list ended early')
  }
  if (cursor === undefined) throw new Error('no page was read')
  return cursor
}

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T

/** Common words, rare ones, pieces of names, several words, beginnings, and what nobody has. */
const searches = Array.from({ length: SEARCHES }, (_, at) => {
  switch (at % 6) {
    case 0:
      return pick(SKILLS, at)
    case 1:
      return `${pick(NOUNS, at)} ${(at * 397) % AGENTS}`
    case 2:
      return `${pick(SKILLS, at)} ${pick(TRADES, at * 7)}`
    case 3:
      return pick(NOUNS, at).slice(1, 5)
    case 4:
      return pick(NOUNS, at).slice(0, 2)
    default:
      return `nobody has this ${at}`
  }
})

test('95 of 100 searches among 100,000 agents take at most three times their SQL alone', async () => {
  const whole: number[] = []
  const bare: number[] = []
  for (const search of searches) {
    const statement = await statementOf({ search })
    const askApi = async () => {
      const at = performance.now()
      const { status } = await client(api.url).get(`/api/agents?search=${encodeURIComponent(search)}`)
      whole.push(performance.now() - at)
      expect(status).toBe(200)
    }
    const askPostgres = async () => {
      const at = performance.now()
      await pool.query(statement.sql, statement.parameters)
      bare.push(performance.now() - at)
    }
    // Each goes first as often as the other, so that neither always finds the cache warm.
    const [first, second] = whole.length % 2 === 0 ? [askApi, askPostgres] : [askPostgres, askApi]
    await first()
    await second()
  }
  const [p95, bareP95] = [percentile(whole, 0.95), percentile(bare, 0.95)]
  expect(p95).toBeLessThanOrEqual(3 * bareP95)
})

test.each<[string, Partial<Listing>]>([
  ['popular', { sort: 'popular' }],
  ['newest', { sort: 'newest' }],
  ['rating', { sort: 'rating' }],
  ['a category', { category: 'coding' }],
  ['a rare category, newest', { category: 'consulting', sort: 'newest' }],
  ['a model', { model: 'model-7' }],
  ['a rare model, by rating', { model: 'model-rare', sort: 'rating' }],
  ['with services', { withServices: true }],
  ['tokenized', { tokenized: true }],
  ['not tokenized', { tokenized: false }],
  ['an owner', { ownerWallet: '0x00000000000000000000000000000000000003e8' }],
  [
    'an owner, hidden ones too',
    { ownerWallet: '0x00000000000000000000000000000000000003e8', includeHidden: true },
  ],
  [
    'everything at once',
    { category: 'coding', model: 'model-7', withServices: true, tokenized: false, sort: 'rating' },
  ],
  ['search, a common word', { search: SKILLS[0] }],
  ['search, a rare name', { search: `${NOUNS[3]} 4242` }],
  ['search, two letters', { search: 'or' }],
  ['search, one letter', { search: 'x' }],
  ['search with filters', { search: SKILLS[1], category: 'coding', withServices: true }],
  ['search for nothing there is', { search: 'qqqqq zzzzz' }],
])('no list reads the whole table: %s', async (_, listing) => {
  expect(await planOf(await statementOf(listing))).not.toMatch(/Seq Scan on agents/)
})

test.each(['popular', 'newest', 'rating'] as const)(
  'page 30 by %s is found by the index, not by skipping',
  async (sort) => {
    const cursor = await cursorAfter({ sort }, 30)
    const statement = await statementOf({ sort, cursor })
    const plan = await planOf(statement)
    expect(plan).not.toMatch(/Seq Scan|Sort/)
    expect(plan).toMatch(/Index Cond: \(ROW\(/)
  },
)
