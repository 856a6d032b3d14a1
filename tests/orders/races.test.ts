import { SECOND } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { balanceOf, suspense } from '@market/money/ledger'
import type { Order } from '@market/trade/orders'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { outcome } from '../payments/payment-fixture.ts'
import {
  NETWORK,
  newBuyer,
  type OrderFixture,
  openOrderFixture,
  PRICE,
  type Seller,
} from './order-fixture.ts'

const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 30)
const PARALLEL = 5
const HOUR = 3_600 * SECOND

let fixture: OrderFixture
let seller: Seller
beforeEach(async () => {
  fixture = await openOrderFixture()
  seller = await fixture.makeSeller({ turnaroundHours: 1 })
})
afterEach(async () => {
  try {
    await fixture.expectBalanced()
    expect(await deadlocks()).toBe(0n)
  } finally {
    await fixture.stop()
  }
})

/** Deadlocks Postgres had to break in this database, those a retry hid included. */
async function deadlocks(): Promise<bigint> {
  await sql`select pg_stat_force_next_flush()`.execute(fixture.db)
  const { rows } = await sql<{ deadlocks: bigint }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(fixture.db)
  return rows[0]?.deadlocks ?? -1n
}

/** What an act ended in: the state it led to, or the machine word of its error. */
const endOf = async (act: Promise<Order | number>): Promise<string> => {
  const ended = await outcome(act)
  return typeof ended === 'object' ? ended.status : String(ended)
}

/** A few at a time, all of one seller, so that they meet at its rows too. */
async function rounds<T>(work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  let next = 0
  const runOne = async () => {
    for (let n = next++; n < ROUNDS; n = next++) done[n] = await work(n)
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
  return done
}

async function settle(ids: readonly OrderId[]): Promise<void> {
  await fixture.expectWhole(ids)
  await fixture.expectReachable(ids)
}

const countOf = (ends: readonly (readonly string[])[]) =>
  Object.fromEntries(
    Map.groupBy(ends, (end) => end.join(' '))
      .entries()
      .map(([end, all]) => [end, all.length]),
  )

test('cancel and deliver at once: one succeeds, the other gets an error that names the status', async () => {
  const buyer = newBuyer()
  const ids = await rounds(() => fixture.paid(seller, buyer))
  const ends = await rounds(async (n) => {
    const id = ids[n] as OrderId
    const acts = [() => fixture.cancel(buyer, id), () => fixture.deliver(seller, id)]
    // The first request has a small lead, so the order alternates.
    const [first, second] = n % 2 === 0 ? acts : acts.toReversed()
    const done = await Promise.all([first, second].map((act) => endOf(act?.() ?? Promise.reject())))
    return done.toSorted()
  })
  expect(Object.keys(countOf(ends)).toSorted()).toEqual([
    'cancelled illegal_transition',
    'delivered illegal_transition',
  ])
  await settle(ids)
})

test('approve, dispute and release at once: pays the agent at most once, and only if the order is completed', async () => {
  const buyer = newBuyer()
  const ids = await rounds(() => fixture.delivered(seller, buyer))
  fixture.clock.advance(48 * HOUR - 1)
  let begun = 0
  const ends = await rounds(async (n) => {
    const id = ids[n] as OrderId
    // In the middle of it all the last millisecond of every review passes.
    if (++begun === ROUNDS / 2) fixture.clock.advance(1)
    return Promise.all([
      endOf(fixture.approve(buyer, id)),
      endOf(fixture.dispute(buyer, id)),
      n % 10 === 0 ? endOf(fixture.sweepDue()) : '',
    ])
  })
  const words = new Set([...ends.map(([approved]) => approved), ...ends.map(([, disputed]) => disputed)])
  expect(words.isSubsetOf(new Set(['completed', 'disputed', 'illegal_transition']))).toBe(true)
  await fixture.sweepDue()
  for (const id of ids) expect((await fixture.read(id)).status).toMatch(/^(completed|disputed)$/)
  const rows = await fixture.db.selectFrom('payouts').select(['subject', 'kind']).execute()
  expect(new Set(rows.map(({ subject }) => subject)).size).toBe(rows.length)
  await settle(ids)
})

test('pay and cancel at once: the payment is in escrow or refunded', async () => {
  const buyer = newBuyer()
  const ids = await rounds(async () => (await fixture.create(seller, buyer)).id)
  const references = ids.map(() => fixture.send(buyer.wallet.key))
  const ends = await rounds((n) => {
    const id = ids[n] as OrderId
    const pay = () => endOf(fixture.pay(buyer, id, references[n] as string))
    const cancel = () => endOf(fixture.cancel(seller.provider, id))
    return n % 2 === 0
      ? Promise.all([pay(), cancel()])
      : Promise.all([cancel(), pay()]).then((done) => done.toReversed())
  })
  expect(new Set(ends.map(([paid]) => paid)).isSubsetOf(new Set(['paid', 'illegal_transition']))).toBe(true)
  expect(new Set(ends.map(([, cancelled]) => cancelled))).toEqual(new Set(['cancelled']))
  fixture.clock.advance(3 * SECOND)
  while ((await fixture.finish()) > 0) fixture.clock.advance(3 * SECOND)
  for (const { refund, escrow } of await fixture.moneyOf(ids))
    expect({ refund, escrow }).toEqual({ refund: PRICE, escrow: 0n })
  await settle(ids)
})

test('two pays with two transfers: one pays, the other returns illegal_transition and its transfer is posted to suspense', async () => {
  const buyer = newBuyer()
  const ids = await rounds(async () => (await fixture.create(seller, buyer)).id)
  const pairs = ids.map(() => [fixture.send(buyer.wallet.key), fixture.send(buyer.wallet.key)] as const)
  const ends = await rounds((n) =>
    Promise.all((pairs[n] ?? []).map((reference) => endOf(fixture.pay(buyer, ids[n] as OrderId, reference)))),
  )
  for (const end of ends) expect(end.toSorted()).toEqual(['illegal_transition', 'paid'])
  await fixture.watch()
  for (const [n, id] of ids.entries()) {
    const order = await fixture.read(id)
    const used = 'payment' in order ? order.payment?.reference : undefined
    const other = pairs[n]?.find((reference) => reference !== used) ?? ''
    expect(await balanceOf(fixture.db, suspense(NETWORK, other))).toBe(PRICE)
  }
  await settle(ids)
})

test('one transfer for two orders: pays one, the other gets transfer_used', async () => {
  const buyer = newBuyer()
  const pairs = await rounds(async () => {
    const [one, two] = await Promise.all([fixture.create(seller, buyer), fixture.create(seller, buyer)])
    return [one.id, two.id] as const
  })
  const references = pairs.map(() => fixture.send(buyer.wallet.key))
  const ends = await rounds((n) =>
    Promise.all((pairs[n] ?? []).map((id) => endOf(fixture.pay(buyer, id, references[n] as string)))),
  )
  for (const end of ends) expect(end.toSorted()).toEqual(['paid', 'transfer_used'])
  await settle(pairs.flat())
})

test('deliver and overdue refund at once: one succeeds, depending on the deadline', async () => {
  const buyer = newBuyer()
  const ids = await rounds(() => fixture.paid(seller, buyer))
  fixture.clock.advance(25 * HOUR - 1)
  let begun = 0
  const ends = await rounds(async (n) => {
    if (++begun === ROUNDS / 2) fixture.clock.advance(1)
    const [delivered] = await Promise.all([
      endOf(fixture.deliver(seller, ids[n] as OrderId)),
      n % 10 === 0 ? fixture.sweepDue() : undefined,
    ])
    return delivered
  })
  await fixture.sweepDue()
  for (const [n, id] of ids.entries()) {
    const { status } = await fixture.read(id)
    expect([ends[n], status]).toEqual(
      ends[n] === 'delivered' ? ['delivered', 'delivered'] : ['illegal_transition', 'cancelled'],
    )
  }
  expect(new Set(ends).size).toBe(2)
  await settle(ids)
})
