import { countPending } from '@market/core/approvals'
import { findBacklog } from '@market/core/statistics'
import { openPool } from '@market/database/connect'
import type { Db } from '@market/database/transact'
import { countDropped } from '@market/identity/webhooks'
import { systemClock } from '@market/kernel/clock'
import { countUnmatched } from '@market/money/payments'
import { findWaitingPayouts } from '@market/money/payouts'
import { getSolvency } from '@market/reserves/snapshots'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { findDisputes } from '@market/trade/orders'
import { countContests } from '@market/trade/x402'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillWithListings } from './many-listings.ts'
import { fillWithOrders } from './many-orders.ts'
import { statementsOf } from './order-statements.ts'
import { planCost } from './plan-cost.ts'

const ENDED = 20_000
/** Of each kind so many rows wait. */
const WAITING = 5

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await testDatabase()
  pool = openPool({ url: database.url, maxConnections: 1 })
  await fillWithListings(database.url, 200, 20)
  await fillWithOrders(database.url, ENDED, ['orders', 'ledger_accounts', 'payouts'])
  await fillRest()
}, 600_000)
afterAll(async () => {
  await pool.end()
  await database.stop()
})

/** Rows that have ended in the other tables, and a few that wait. Triggers rest, as in `fillWithOrders`. */
async function fillRest(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query(`set session_replication_role = replica`)
    for (const statement of FILL) await client.query(statement)
    await client.query(`vacuum analyze ${GROWING.join(', ')}`)
  } finally {
    await client.end()
  }
}

const GROWING = [
  'approvals',
  'deliveries',
  'ledger_accounts',
  'orders',
  'payouts',
  'purchases',
  'reserve_snapshots',
]

const isGrowing = (table: string): boolean =>
  GROWING.some((name) => table === name || table.startsWith(`${name}_`))

const anOrder = (status: string) => `(select id from orders where status = '${status}' limit ${WAITING})`
const aPayout = `(select id from payouts where state = 'final' limit ${WAITING})`

const FILL = [
  `update orders set status = 'disputed', review_ends_at = null, due_at = null, review_left_ms = 1, complaint = 'Wrong'
    where id in ${anOrder('delivered')}`,
  `update payouts set state = 'held', hold_code = 'payout_cap', reason = 'a cap', final_reference = null where id in ${aPayout}`,
  `update payouts set state = 'failed', reason = 'blocked', final_reference = null where id in ${aPayout}`,
  `insert into purchases (id, network, kind, proof, subject, request, fingerprint, binding, state, lease_until, reference,
      result_id, amount_micros, created_at, updated_at)
    select 'hir_1700000000000_' || lpad(n::text, 17, '0'), 'base-mainnet', 'transaction', '0x' || md5(n::text) || md5('a' || n),
      'registration', '{}', decode(md5(n::text) || md5('b' || n), 'hex'), 'payer', 'done', now(),
      '0x' || md5(n::text) || md5('a' || n), 'agt_' || n, 1000000, now(), now()
    from generate_series(1, ${ENDED}) as n`,
  // All in the partition of this month, whatever day it is.
  `insert into deliveries (id, created_at, agent_id, seq, event, order_id, status, attempts, ended_at)
    select gen_random_uuid(), date_trunc('month', now() at time zone 'utc') at time zone 'utc', 'agt_' || n % 10, n,
      'order.created', '', case when n % 500 = 0 then 'dropped' else 'delivered' end, 1, now() - n * interval '1 minute'
    from generate_series(1, ${ENDED}) as n`,
  `insert into ledger_accounts (id, kind, network, subject, may_be_negative, balance_micros, created_at, updated_at)
    select 'suspense:base-mainnet:' || n, 'suspense', 'base-mainnet', n::text, false,
      case when n <= ${WAITING} then 1000000 else 0 end, now(), now()
    from generate_series(1, ${ENDED}) as n`,
  `insert into reserve_snapshots (id, network, taken_at, treasury, final_micros, latest_micros, ledger_micros,
      in_flight_micros, in_flight, in_flight_count, venues_micros, escrow_micros, payable_micros, surplus_micros,
      suspense_micros, fees_micros, earn_micros, unfinal_micros, short_micros)
    select 'rsv_1700000000000_' || lpad(n::text, 17, '0'), 'base-mainnet', now() - n * interval '30 seconds', 'treasury',
      0, 0, 0, 0, '[]', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    from generate_series(1, ${ENDED}) as n`,
  `insert into approvals (id, kind, payload, subject, summary, reason, proposer, rejected_by, state, created_at, expires_at,
      decided_at)
    select 'apr_1700000000000_' || lpad(n::text, 17, '0'), 'redirect_payout', '{}', 'pay', 'pay', 'reason', 'user:a',
      case when n > ${WAITING} then 'user:b' end, case when n > ${WAITING} then 'rejected' else 'pending' end,
      now() - n * interval '1 minute', now() + interval '1 day', case when n > ${WAITING} then now() end
    from generate_series(1, ${ENDED}) as n`,
]

const READS: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
  ['disputes', (db) => findDisputes({ db })],
  ['contests', (db) => countContests({ db })],
  ['held and failed payouts', (db) => findWaitingPayouts({ db })],
  ['unmatched transfers', (db) => countUnmatched({ db })],
  ['dropped webhooks', (db) => countDropped({ db, clock: systemClock })],
  ['reserves', (db) => getSolvency({ db, clock: systemClock })],
  ['the backlog of the statistics', (db) => findBacklog({ db })],
  ['approvals', (db) => countPending({ db, clock: systemClock })],
]

/** What waits, in each of two states or kinds, and what a page of an index has beside it. */
const MOST_ROWS = 100

test.each(READS)(`the overview reads no ended row of ${ENDED} for %s`, async (_, read) => {
  const statements = await statementsOf(database.url, read)
  expect(statements.length).toBeGreaterThan(0)
  for (const statement of statements) {
    const { scanned, rows } = await planCost(pool, statement, isGrowing)
    expect({ scanned, sql: statement.sql }).toEqual({ scanned: [], sql: statement.sql })
    expect(rows).toBeLessThanOrEqual(MOST_ROWS)
  }
})

test('the overview finds what waits', async () => {
  const { db } = database
  expect(await findDisputes({ db })).toHaveLength(WAITING)
  expect(await findWaitingPayouts({ db })).toMatchObject([
    { state: 'held', count: WAITING },
    { state: 'failed', count: WAITING },
  ])
  expect(await countUnmatched({ db })).toMatchObject([{ kind: 'suspense', count: WAITING }])
  expect(await countPending({ db, clock: systemClock })).toMatchObject({ count: WAITING })
})
