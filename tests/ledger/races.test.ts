import { usdc } from '@market/kernel/money'
import {
  type Account,
  balanceOf,
  escrow,
  fees,
  isOverdraft,
  payable,
  statementOf,
  totals,
  world,
} from '@market/money/ledger'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BASE, ledgerFaults, paid, postNow, someSubject } from './ledger-fixtures.ts'

/** With more connections a busy machine exceeds the statement timeout while waiting for locks. */
const CONNECTIONS = Number(process.env['RACE_CONNECTIONS'] ?? 12)

let database: TestDatabase
let ctx: MarketContext
beforeEach(async () => {
  database = await testDatabase({ maxConnections: CONNECTIONS })
  ctx = marketContext({ db: database.db })
})
afterEach(async () => {
  try {
    expect(await ledgerFaults(ctx.db)).toEqual([])
    expect(await totals(ctx.db, BASE)).toMatchObject({ imbalance: 0n })
  } finally {
    await database.stop()
  }
})

/** Runs as many calls concurrently as there are connections. */
async function inParallel<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  let next = 0
  const worker = async () => {
    for (let n = next++; n < count; n = next++) done[n] = await work(n)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return done
}

const move = (subject: string, from: Account, to: Account, micros: bigint) =>
  postNow(ctx, {
    key: `moved:${subject}`,
    reason: 'test.moved',
    subject,
    network: BASE,
    moves: [{ from, to, amount: usdc(micros) }],
  })

/** Deadlocks Postgres had to break in this database, those a retry hid included. */
async function deadlocks(): Promise<bigint> {
  await sql`select pg_stat_force_next_flush()`.execute(ctx.db)
  const { rows } = await sql<{ deadlocks: bigint }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(ctx.db)
  return rows[0]?.deadlocks ?? -1n
}

test('50 concurrent posts with one key move money once and return the same journal', async () => {
  const order = someSubject()
  const posted = await inParallel(50, () => postNow(ctx, paid(order, 100n)))
  expect(posted.filter(({ isNew }) => isNew)).toHaveLength(1)
  expect(new Set(posted.map(({ journalId }) => journalId)).size).toBe(1)
  expect(await balanceOf(ctx.db, escrow(BASE, order))).toBe(100n)
  const { journals } = await statementOf(ctx.db, { subject: order }, { limit: 10 })
  expect(journals.map(({ id }) => id)).toEqual([posted[0]?.journalId])
})

test('200 concurrent posts between 4 accounts cause no deadlock', async () => {
  const accounts = await inParallel(4, async (n) => {
    await postNow(ctx, paid(`ord_${n}`, 1_000_000n))
    return escrow(BASE, `ord_${n}`)
  })
  const some = (n: number) => accounts[n % accounts.length] ?? world(BASE)
  const posted = await inParallel(200, (n) => {
    const [from, to] = [some(n), n % 5 === 0 ? fees(BASE) : some(n + 1 + (n % 3))]
    return move(`swap_${n}`, from, to, 1n)
  })
  expect(posted.filter(({ isNew }) => isNew)).toHaveLength(200)
  expect(await deadlocks()).toBe(0n)
  expect(await totals(ctx.db, BASE)).toMatchObject({ treasuryView: 4_000_000n, fees: 40n })
})

test('100 concurrent posts to new accounts create each account once, without a deadlock', async () => {
  await postNow(ctx, paid('ord_source', 1_000n))
  const fresh = Array.from({ length: 6 }, (_, n) => payable(BASE, `pay_${n}`))
  await inParallel(100, (n) =>
    postNow(ctx, {
      key: `spread:${n}`,
      reason: 'test.spread',
      subject: 'ord_source',
      network: BASE,
      // Each journal names the accounts in another order; the ledger sorts them.
      moves: fresh.map((_, at) => ({
        from: escrow(BASE, 'ord_source'),
        to: fresh[(at + n) % fresh.length] ?? world(BASE),
        amount: usdc(1n),
      })),
    }),
  )
  expect(await balanceOf(ctx.db, escrow(BASE, 'ord_source'))).toBe(400n)
  for (const account of fresh) expect(await balanceOf(ctx.db, account)).toBe(100n)
  expect(await deadlocks()).toBe(0n)
})

test('concurrent withdrawals succeed only up to the balance', async () => {
  const order = someSubject()
  await postNow(ctx, paid(order, 1_050n))
  const outcomes = await inParallel(60, (n) =>
    move(`race_${n}`, escrow(BASE, order), payable(BASE, `pay_${n}`), 100n).then(
      () => 'paid',
      (error: unknown) => (isOverdraft(error) ? 'rejected' : String(error)),
    ),
  )
  expect(outcomes.filter((outcome) => outcome === 'paid')).toHaveLength(10)
  expect(outcomes.filter((outcome) => outcome === 'rejected')).toHaveLength(50)
  expect(await balanceOf(ctx.db, escrow(BASE, order))).toBe(50n)
})
