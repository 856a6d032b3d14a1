import { transact } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emit } from './emit.ts'
import { findEventsAfter, findLastSeqs } from './store.ts'

const CONCURRENT = 30

let database: Awaited<ReturnType<typeof testDatabase>>
let ctx: MarketContext
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
})
afterAll(() => database.stop())

const newAgent = async (): Promise<AgentId> => (await makeAgent(ctx)).agent.id

const emitTest = (agentId: AgentId, message = 'Hello', orderId = '') =>
  transact(ctx.db, (tx) => emit(ctx, tx, { agentId, event: 'webhook.test', orderId, data: { message } }))

const jobsOf = async (agentId: AgentId) =>
  (
    await sql<{ payload: unknown }>`
      select payload from graphile_worker._private_jobs where key = ${`deliver-events:${agentId}`}`.execute(
      ctx.db,
    )
  ).rows

const numbers = (count: number) => Array.from({ length: count }, (_, n) => BigInt(n + 1))

test('emit: numbers the events of each agent from 1', async () => {
  const [one, other] = [await newAgent(), await newAgent()]
  expect([await emitTest(one), await emitTest(other), await emitTest(one), await emitTest(one)]).toEqual([
    1n,
    1n,
    2n,
    3n,
  ])
  expect(await findLastSeqs(ctx.db, [one, other, await newAgent()])).toEqual(
    new Map([
      [one, 3n],
      [other, 1n],
    ]),
  )
})

test('emit: concurrent calls get distinct numbers without gaps', async () => {
  const agentId = await newAgent()
  const seqs = await Promise.all(Array.from({ length: CONCURRENT }, () => emitTest(agentId)))
  expect(seqs.toSorted((a, b) => Number(a - b))).toEqual(numbers(CONCURRENT))
  const events = await findEventsAfter(ctx.db, agentId, 0n, 100)
  expect(events.map(({ seq }) => seq)).toEqual(numbers(CONCURRENT))
})

test('findEventsAfter: returns the event with its time, order and data', async () => {
  const agentId = await newAgent()
  await emitTest(agentId, 'Zoë \u2028 "x"', 'ord_7')
  expect(await findEventsAfter(ctx.db, agentId, 0n, 1)).toEqual([
    {
      agentId,
      seq: 1n,
      at: ctx.clock.now(),
      event: 'webhook.test',
      orderId: 'ord_7',
      data: { message: 'Zoë \u2028 "x"' },
    },
  ])
})

test('findEventsAfter: returns events after the number, up to the limit', async () => {
  const agentId = await newAgent()
  for (let n = 0; n < 5; n++) await emitTest(agentId)
  const seqsOf = async (after: bigint, limit: number) =>
    (await findEventsAfter(ctx.db, agentId, after, limit)).map(({ seq }) => seq)
  expect(await seqsOf(0n, 2)).toEqual([1n, 2n])
  expect(await seqsOf(2n, 2)).toEqual([3n, 4n])
  expect(await seqsOf(4n, 2)).toEqual([5n])
  expect(await seqsOf(5n, 2)).toEqual([])
})

test('emit: enqueues one job for several events of an agent', async () => {
  const agentId = await newAgent()
  for (let n = 0; n < 3; n++) await emitTest(agentId)
  expect(await jobsOf(agentId)).toEqual([{ payload: { agentId } }])
})

test('events cannot be updated', async () => {
  const agentId = await newAgent()
  await emitTest(agentId)
  const change = ctx.db.updateTable('events').set({ event: 'order.paid' }).where('agent_id', '=', agentId)
  await expect(change.execute()).rejects.toThrow()
  expect(await findEventsAfter(ctx.db, agentId, 0n, 1)).toMatchObject([{ event: 'webhook.test' }])
})

test('emit: fails when the agent does not exist', async () => {
  await expect(emitTest('agt_0_0nobody')).rejects.toThrow(/event_counters_agent_id_fkey/)
})
