import { MINUTE } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type Account,
  escrow,
  fees,
  payable,
  stripesOf,
  surplus,
  suspense,
  venue,
  withdrawal,
  world,
} from './accounts.ts'
import type { Journal, Move } from './journal.ts'
import { post } from './post.ts'
import { balanceOf, statementOf, totals } from './read-ledger.ts'
import { isOverdraft, maintainLedgerPartitions } from './store.ts'

const BASE = 'base-mainnet'
const AGENT: AgentId = 'agt_1767225600000_00000000000000001'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

const move = (from: Account, to: Account, micros: bigint): Move => ({ from, to, amount: usdc(micros) })
const postNow = (key: string, subject: string, moves: Move[], more: Partial<Journal> = {}) =>
  ctx.transact((tx) => post(ctx, tx, { key, reason: 'test', subject, network: BASE, moves, ...more }))

const pay = (order: string, micros = 100n) =>
  postNow(`paid:${order}`, order, [move(world(BASE), escrow(BASE, order), micros)])
const complete = (order: string) =>
  postNow(
    `completed:${order}`,
    order,
    [
      move(escrow(BASE, order), payable(BASE, `pay_${order}`), 90n),
      move(escrow(BASE, order), fees(BASE), 10n),
    ],
    { agentId: AGENT },
  )

describe('post', () => {
  test('moves money from one account to another', async () => {
    expect(await pay('ord_1')).toMatchObject({ isNew: true })
    await complete('ord_1')
    expect(await balanceOf(ctx.db, escrow(BASE, 'ord_1'))).toBe(0n)
    expect(await balanceOf(ctx.db, payable(BASE, 'pay_ord_1'))).toBe(90n)
    expect(await balanceOf(ctx.db, fees(BASE))).toBe(10n)
    expect(await balanceOf(ctx.db, world(BASE))).toBe(-100n)
    expect(await balanceOf(ctx.db, escrow('alt-mainnet', 'ord_1'))).toBe(0n)
  })

  test('the same key twice moves money once and returns the first journal', async () => {
    const first = await pay('ord_1')
    ctx.clock.advance(MINUTE)
    expect(await pay('ord_1')).toEqual({ journalId: first.journalId, isNew: false })
    expect(await balanceOf(ctx.db, world(BASE))).toBe(-100n)
  })

  test('the same key twice in one transaction moves money once', async () => {
    const moves = [move(world(BASE), suspense(BASE, 'trf_1'), 5n)]
    const journal: Journal = { key: 'arrived:trf_1', reason: 'test', subject: 'trf_1', network: BASE, moves }
    const [first, second] = await ctx.transact(async (tx) => [
      await post(ctx, tx, journal),
      await post(ctx, tx, journal),
    ])
    expect(second).toEqual({ journalId: first?.journalId, isNew: false })
    expect(await balanceOf(ctx.db, suspense(BASE, 'trf_1'))).toBe(5n)
  })

  test('the same key with other moves, subject or network throws and moves nothing', async () => {
    await pay('ord_1')
    const other = /posted before, with other moves/
    await expect(pay('ord_1', 101n)).rejects.toThrow(other)
    const elsewhere = [move(world(BASE), surplus(BASE, 'ord_1'), 100n)]
    await expect(postNow('paid:ord_1', 'ord_1', elsewhere)).rejects.toThrow(other)
    const same = [move(world(BASE), escrow(BASE, 'ord_1'), 100n)]
    await expect(postNow('paid:ord_1', 'ord_2', same)).rejects.toThrow(other)
    const alt = [move(world('alt-mainnet'), escrow('alt-mainnet', 'ord_1'), 100n)]
    await expect(postNow('paid:ord_1', 'ord_1', alt, { network: 'alt-mainnet' })).rejects.toThrow(other)
    expect(await totals(ctx.db, BASE)).toMatchObject({ treasuryView: 100n, imbalance: 0n })
  })

  test('throws isOverdraft when the balance is too small', async () => {
    await pay('ord_1', 99n)
    const failure = await complete('ord_1').catch((error: unknown) => error)
    expect(isOverdraft(failure)).toBe(true)
    expect(isOverdraft(new Error('another'))).toBe(false)
    expect(await balanceOf(ctx.db, escrow(BASE, 'ord_1'))).toBe(99n)
  })

  test('a transaction that fails posts nothing', async () => {
    const failing = ctx.transact(async (tx) => {
      const moves = [move(world(BASE), escrow(BASE, 'ord_1'), 100n)]
      await post(ctx, tx, { key: 'paid:ord_1', reason: 'test', subject: 'ord_1', network: BASE, moves })
      throw new Error('after all, no')
    })
    await expect(failing).rejects.toThrow('after all, no')
    expect(await pay('ord_1')).toMatchObject({ isNew: true })
    expect(await balanceOf(ctx.db, world(BASE))).toBe(-100n)
  })

  test('fees are moved out per stripe, up to the balance of the stripe', async () => {
    for (const order of ['ord_1', 'ord_2', 'ord_3', 'ord_4']) {
      await pay(order)
      await complete(order)
    }
    for (const stripe of stripesOf(fees(BASE))) {
      const held = await balanceOf(ctx.db, stripe)
      if (held > 0n) await postNow(`earned:${stripe.subject}`, 'earnings', [move(stripe, world(BASE), held)])
    }
    expect(await balanceOf(ctx.db, fees(BASE))).toBe(0n)
    expect(await totals(ctx.db, BASE)).toMatchObject({ treasuryView: 360n, imbalance: 0n })
  })
})

describe('totals', () => {
  test('returns the balance of each kind, and treasuryView is their sum', async () => {
    await pay('ord_1')
    await pay('ord_2')
    await complete('ord_2')
    await postNow('arrived:trf_1', 'trf_1', [move(world(BASE), suspense(BASE, 'trf_1'), 7n)])
    await postNow('over:trf_2', 'trf_2', [move(world(BASE), surplus(BASE, 'trf_2'), 3n)])
    await postNow('earned:pool', 'pool', [move(venue(BASE, 'a:b'), withdrawal(BASE, 'ewd_1'), 12n)])
    expect(await totals(ctx.db, BASE)).toEqual({
      treasuryView: 210n,
      coldView: 0n,
      venuesView: 12n,
      liabilities: { escrow: 100n, payable: 90n, surplus: 3n, withdrawal: 12n },
      fees: 10n,
      suspense: 7n,
      imbalance: 0n,
    })
    expect(await totals(ctx.db, 'alt-mainnet')).toMatchObject({ treasuryView: 0n, imbalance: 0n })
  })
})

describe('statementOf', () => {
  test('returns all journals of an order, newest first', async () => {
    const { journalId: first } = await pay('ord_1')
    ctx.clock.advance(MINUTE)
    const { journalId: second } = await complete('ord_1')
    await pay('ord_2')
    const { journals, nextBefore } = await statementOf(ctx.db, { subject: 'ord_1' }, { limit: 10 })
    expect(journals.map(({ id }) => id)).toEqual([second, first])
    expect(nextBefore).toBeNull()
    expect(journals[0]).toMatchObject({ key: 'completed:ord_1', at: ctx.clock.now(), network: BASE })
    expect(journals[0]?.legs).toEqual([
      { account: escrow(BASE, 'ord_1'), micros: -100n },
      { account: { ...fees(BASE), subject: expect.stringMatching(/^[0-7]$/) }, micros: 10n },
      { account: payable(BASE, 'pay_ord_1'), micros: 90n },
    ])
  })

  test('returns the journals of all orders of an agent, in pages', async () => {
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      ctx.clock.advance(MINUTE)
      await pay(`ord_${n}`)
      ids.unshift((await complete(`ord_${n}`)).journalId)
    }
    const about = { agentId: AGENT }
    const one = await statementOf(ctx.db, about, { limit: 2 })
    const two = await statementOf(ctx.db, about, {
      limit: 2,
      ...(one.nextBefore && { before: one.nextBefore }),
    })
    const end = await statementOf(ctx.db, about, {
      limit: 2,
      ...(two.nextBefore && { before: two.nextBefore }),
    })
    expect([one, two, end].flatMap(({ journals }) => journals.map(({ id }) => id))).toEqual(ids)
    expect(end.nextBefore).toBeNull()
    expect(await statementOf(ctx.db, { subject: 'nobody' }, { limit: 2 })).toEqual({
      journals: [],
      nextBefore: null,
    })
  })
})

test('maintainLedgerPartitions: concurrent calls create the partitions once and move rows from the default one', async () => {
  const months = async () =>
    (
      await sql<{ name: string }>`select distinct tableoid::regclass::text as name from ledger_moves`.execute(
        ctx.db,
      )
    ).rows.map(({ name }) => name)
  ctx.clock.set(new Date('2031-12-31T23:59:59.999Z'))
  await pay('ord_1')
  expect(await months()).toEqual(['ledger_moves_other'])
  await Promise.all(Array.from({ length: 4 }, () => maintainLedgerPartitions(ctx)))
  expect(await months()).toEqual(['ledger_moves_203112'])
  ctx.clock.set(new Date('2032-02-01T00:00:00Z'))
  await complete('ord_1')
  expect(new Set(await months())).toEqual(new Set(['ledger_moves_203112', 'ledger_moves_203202']))
  expect((await statementOf(ctx.db, { subject: 'ord_1' }, { limit: 10 })).journals).toHaveLength(2)
})
