import type { AgentId } from '@market/kernel/ids'
import { makeAgent, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { rollUpStatistics } from './roll-up.ts'
import {
  addStatistics,
  addToTotals,
  findLeaders,
  insertChanges,
  readStatistics,
  takeChanges,
} from './store.ts'

const CONCURRENT = 8
const CHANGES = 300

let database: Awaited<ReturnType<typeof testDatabase>>
let ctx: MarketContext
beforeEach(async () => {
  database = await testDatabase({ maxConnections: 20 })
  ctx = marketContext({ db: database.db })
  return () => database.stop()
})

const add = (amount: bigint) => ctx.transact((tx) => addStatistics(tx, { name: 'reviews', amount }))
const reviews = async () => (await readStatistics(ctx.db)).reviews
const waiting = async () =>
  Number((await sql<{ n: bigint }>`select count(*) as n from statistic_changes`.execute(ctx.db)).rows[0]?.n)

const settle = (agentId: AgentId, settled: bigint, completed = 1n) =>
  ctx.transact((tx) =>
    insertChanges([
      { name: 'completed_micros', agentId, amount: settled },
      { name: 'orders_completed', agentId, amount: completed },
    ]).execute(tx),
  )

test('readStatistics: zero for every figure of an empty marketplace', async () => {
  expect(new Set(Object.values(await readStatistics(ctx.db)))).toEqual(new Set([0n]))
})

test('readStatistics: counts a change at once, and once after it was moved', async () => {
  await add(3n)
  expect(await reviews()).toBe(3n)
  expect(await rollUpStatistics(ctx)).toBe(1)
  expect([await reviews(), await waiting()]).toEqual([3n, 0])
  await add(-1n)
  expect(await reviews()).toBe(2n)
})

test('addStatistics: a rolled-back change does not count, and one of zero is not written', async () => {
  const failed = ctx.transact(async (tx) => {
    await addStatistics(tx, { name: 'reviews', amount: 1n })
    throw new Error('rolled back')
  })
  await expect(failed).rejects.toThrow('rolled back')
  await add(0n)
  expect([await reviews(), await waiting()]).toEqual([0n, 0])
})

test('rollUpStatistics: with concurrent writers, readers and workers every change counts exactly once', async () => {
  const { agent } = await makeListedAgent(ctx)
  const writer = async () => {
    for (let n = 0; n < CHANGES; n++) await (n % 3 === 0 ? settle(agent.id, 2n) : add(1n))
  }
  let isDone = false
  const worker = async () => {
    while (!isDone) await rollUpStatistics(ctx)
  }
  let last = 0n
  const reader = async () => {
    while (!isDone) {
      const now = await reviews()
      expect(now).toBeGreaterThanOrEqual(last)
      last = now
    }
  }
  const others = [worker(), worker(), worker(), reader()]
  await Promise.all([writer(), writer(), writer()])
  isDone = true
  await Promise.all(others)
  const figures = await readStatistics(ctx.db)
  expect([figures.reviews, figures.completed_micros, figures.orders_completed]).toEqual([600n, 600n, 300n])
  await rollUpStatistics(ctx)
  expect(await waiting()).toBe(0)
  expect(await readStatistics(ctx.db)).toEqual(figures)
  expect(await findLeaders(ctx.db, 1)).toEqual([{ agentId: agent.id, settled: 600n, completedOrders: 300n }])
})

test('rollUpStatistics: a worker whose connection ends in a batch has moved nothing, and another one moves it', async () => {
  for (let n = 0; n < 5; n++) await add(1n)
  let pid = 0
  const killed = ctx.transact(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    pid = rows[0]?.pid ?? 0
    await addToTotals(tx, await takeChanges(tx, 3))
    // The other worker does not wait for these: it moves those that are left.
    const ended = rollUpStatistics(ctx)
    await sql`select pg_terminate_backend(${pid}, 60000)`.execute(ctx.db)
    await ended
    await sql`select 1`.execute(tx)
  })
  await expect(killed).rejects.toThrow()
  expect(pid).toBeGreaterThan(0)
  expect(await reviews()).toBe(5n)
  await rollUpStatistics(ctx)
  expect([await reviews(), await waiting()]).toEqual([5n, 0])
})

test('takeChanges: two workers take different changes', async () => {
  for (let n = 0; n < CONCURRENT; n++) await add(1n)
  const taken = await ctx.transact(async (first) => {
    const mine = await takeChanges(first, CONCURRENT / 2)
    return [mine, await ctx.transact((second) => takeChanges(second, CONCURRENT))].map(({ length }) => length)
  })
  expect(taken).toEqual([CONCURRENT / 2, CONCURRENT / 2])
})

test('findLeaders: by settled money, the older agent first, whether the changes were moved or not', async () => {
  const agents: AgentId[] = []
  for (let n = 0; n < 5; n++) {
    agents.push((await makeListedAgent(ctx)).agent.id)
    ctx.clock.advance(1_000)
  }
  const [a, b, c, d, e] = agents as [AgentId, AgentId, AgentId, AgentId, AgentId]
  for (const [agent, amount] of [
    [a, 10n],
    [b, 30n],
    [c, 20n],
    [d, 20n],
  ] as const)
    await settle(agent, amount)
  const order = async (limit = 10) => (await findLeaders(ctx.db, limit)).map(({ agentId }) => agentId)
  expect(await order()).toEqual([b, c, d, a])
  await rollUpStatistics(ctx)
  expect(await order()).toEqual([b, c, d, a])
  expect(await order(2)).toEqual([b, c])
  // Changes that are not moved yet raise one agent, lower another and remove a third.
  await settle(e, 25n)
  await settle(b, -29n, -1n)
  await settle(c, -20n, -1n)
  expect(await findLeaders(ctx.db, 3)).toEqual([
    { agentId: e, settled: 25n, completedOrders: 1n },
    { agentId: d, settled: 20n, completedOrders: 1n },
    { agentId: a, settled: 10n, completedOrders: 1n },
  ])
  const all = [e, d, a, b]
  expect(await order()).toEqual(all)
  await rollUpStatistics(ctx)
  expect(await order()).toEqual(all)
})

test('findLeaders: not an agent without an owner or with a deleted one', async () => {
  const hidden = (await makeAgent(ctx)).agent.id
  const closed = (await makeListedAgent(ctx)).agent.id
  const listed = (await makeListedAgent(ctx)).agent.id
  for (const agent of [hidden, closed, listed]) await settle(agent, 5n)
  await sql`update agents set closed_at = now() where id = ${closed}`.execute(ctx.db)
  const ids = async () => (await findLeaders(ctx.db, 10)).map(({ agentId }) => agentId)
  expect(await ids()).toEqual([listed])
  await rollUpStatistics(ctx)
  expect(await ids()).toEqual([listed])
})
