import { transact } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emit } from './emit.ts'
import { findEventsAfter, lastSeqOf } from './list-events.ts'

const AT_ONCE = 30

let database: Awaited<ReturnType<typeof testDatabase>>
let ctx: MarketContext
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
})
afterAll(() => database.stop())

const newAgent = async (): Promise<AgentId> => (await makeAgent(ctx)).agent.id

const say = (agentId: AgentId, message = 'Hello', orderId = '') =>
  transact(ctx.db, (tx) => emit(ctx, tx, { agentId, event: 'webhook.test', orderId, data: { message } }))

const jobsOf = async (agentId: AgentId) =>
  (
    await sql<{ payload: unknown }>`
      select payload from graphile_worker._private_jobs where key = ${`carry-events:${agentId}`}`.execute(
      ctx.db,
    )
  ).rows

const numbers = (count: number) => Array.from({ length: count }, (_, n) => BigInt(n + 1))

test('each agent’s events are numbered from 1, whatever happens to others', async () => {
  const [one, other] = [await newAgent(), await newAgent()]
  expect([await say(one), await say(other), await say(one), await say(one)]).toEqual([1n, 1n, 2n, 3n])
  expect(await lastSeqOf(ctx, [one, other, await newAgent()])).toEqual(
    new Map([
      [one, 3n],
      [other, 1n],
    ]),
  )
})

test('written at once by many, no number is given twice and none is left out', async () => {
  const agentId = await newAgent()
  const given = await Promise.all(Array.from({ length: AT_ONCE }, () => say(agentId)))
  expect(given.toSorted((a, b) => Number(a - b))).toEqual(numbers(AT_ONCE))
  const events = await findEventsAfter(ctx, agentId, 0n, 100)
  expect(events.map(({ seq }) => seq)).toEqual(numbers(AT_ONCE))
})

test('an event comes back as it was told, with its time and order', async () => {
  const agentId = await newAgent()
  await say(agentId, 'Zoë \u2028 "x"', 'ord_7')
  expect(await findEventsAfter(ctx, agentId, 0n, 1)).toEqual([
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

test('a page begins after its number and ends at its limit', async () => {
  const agentId = await newAgent()
  for (let n = 0; n < 5; n++) await say(agentId)
  const seqs = async (after: bigint, limit: number) =>
    (await findEventsAfter(ctx, agentId, after, limit)).map(({ seq }) => seq)
  expect(await seqs(0n, 2)).toEqual([1n, 2n])
  expect(await seqs(2n, 2)).toEqual([3n, 4n])
  expect(await seqs(4n, 2)).toEqual([5n])
  expect(await seqs(5n, 2)).toEqual([])
})

test('however many events wait, one job waits to carry them', async () => {
  const agentId = await newAgent()
  for (let n = 0; n < 3; n++) await say(agentId)
  expect(await jobsOf(agentId)).toEqual([{ payload: { agentId } }])
})

test('what happened cannot be written anew', async () => {
  const agentId = await newAgent()
  await say(agentId)
  const change = ctx.db.updateTable('events').set({ event: 'order.paid' }).where('agent_id', '=', agentId)
  await expect(change.execute()).rejects.toThrow()
  expect(await findEventsAfter(ctx, agentId, 0n, 1)).toMatchObject([{ event: 'webhook.test' }])
})

test('nothing happens to an agent that does not exist', async () => {
  await expect(say('agt_0_0nobody')).rejects.toThrow(/event_counters_agent_id_fkey/)
})
