import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { countScriptCalls, type OwnRedis, startRedis } from '@market/testing/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAppServices, type Pair } from '../load/order-app.ts'
import { statementsOf } from '../load/order-statements.ts'

/**
 * What the hot paths cost, counted: unlike seconds, the counts are the same on every machine. Raise a number only with
 * a reason; `npm run bench` shows what it costs.
 */
/**
 * One of them locks the buyer, so that the deletion of an account finds every order of it. One locks the counter of the
 * buyer's events before the payment is posted. One asks whether the newest blocks are read, which saves two calls of a node.
 */
const STATEMENTS_OF_ORDER = { total: 53, transactions: 4 }
const STATEMENTS_OF_ME = 1
const REDIS_CALLS_PER_REQUEST = 1
/** The lookup of a named payment counts against a budget of its own. */
const REDIS_CALLS_PER_LOOKUP = 1
const REQUESTS_OF_ORDER = 4

let database: TestDatabase
let redis: OwnRedis
let market: ReturnType<typeof openAppServices>
let pair: Pair
beforeAll(async () => {
  ;[database, redis] = await Promise.all([testDatabase(), startRedis()])
  market = openAppServices(database.db, redis.url)
  await market.ready()
  const [made] = await market.makePairs(1)
  if (made === undefined) throw new Error('no pair of seller and buyer was made')
  pair = made
  // Loads the limiter's script into Redis and wakes every module.
  await market.live(pair)
})
afterAll(async () => {
  await market.stop()
  await Promise.all([database.stop(), redis.stop()])
})

test(`an order from creation to approval takes ${STATEMENTS_OF_ORDER.total} statements in 4 transactions`, async () => {
  const statements = await statementsOf(database.url, (db) => market.live(pair, db))
  const texts = statements.map(({ sql }) => sql.replace(/\s+/g, ' ').trim())
  expect(texts.filter((sql) => sql === 'commit')).toHaveLength(STATEMENTS_OF_ORDER.transactions)
  expect(texts.length, texts.join('\n')).toBe(STATEMENTS_OF_ORDER.total)
})

test('GET /api/agents/me takes one statement', async () => {
  const statements = await statementsOf(database.url, (db) => market.readMe(pair, db))
  expect(statements).toHaveLength(STATEMENTS_OF_ME)
})

test('100 requests of one turn take two statements, because 64 lookups share one', async () => {
  const statements = await statementsOf(database.url, (db) =>
    Promise.all(Array.from({ length: 100 }, () => market.readMe(pair, db))),
  )
  expect(statements).toHaveLength(2)
})

test('a request takes one Redis call, and requests of one turn share it', async () => {
  const before = await countScriptCalls(redis.url)
  await market.live(pair)
  const alone = (await countScriptCalls(redis.url)) - before
  expect(alone).toBe(REDIS_CALLS_PER_REQUEST * REQUESTS_OF_ORDER + REDIS_CALLS_PER_LOOKUP)

  await Promise.all(Array.from({ length: 50 }, () => market.readMe(pair)))
  expect((await countScriptCalls(redis.url)) - before - alone).toBe(1)
})
