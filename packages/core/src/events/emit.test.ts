import { transact } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emit, emitToBuyer } from './emit.ts'
import type { Buyer } from './event.ts'
import { deleteEventsOf, findEventsAfter, findLastSeqs, findReset, lockBuyerEvents } from './store.ts'

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
  expect(await findLastSeqs(ctx.db, 'agent', [one, other, await newAgent()])).toEqual(
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
  const events = await findEventsAfter(ctx.db, { kind: 'agent', key: agentId }, 0n, 100)
  expect(events.map(({ seq }) => seq)).toEqual(numbers(CONCURRENT))
})

test('emit: a new database epoch assigns no number that an earlier one may have lost', async () => {
  const agentId = await newAgent()
  const reader = { kind: 'agent', key: agentId } as const
  await emitTest(agentId)
  await emitTest(agentId)
  const setEpoch = () =>
    ctx.db
      .updateTable('event_counters')
      .set({ database_epoch: 'an earlier one' })
      .where('agent_id', '=', agentId)
      .execute()
  await setEpoch()
  const before = BigInt(Date.now())
  const first = await emitTest(agentId)
  expect(first).toBeGreaterThanOrEqual(before - 60_000n)
  expect(await emitTest(agentId)).toBe(first + 1n)
  // A second restore of the same backup: above what was assigned meanwhile.
  await ctx.db
    .updateTable('event_counters')
    .set({ database_epoch: 'an earlier one', last_seq: 2n })
    .where('agent_id', '=', agentId)
    .execute()
  expect(await emitTest(agentId)).toBeGreaterThan(first + 1n)
  // A clock that is behind does not make the numbers smaller.
  const ahead = first * 2n
  await ctx.db
    .updateTable('event_counters')
    .set({ last_seq: ahead })
    .where('agent_id', '=', agentId)
    .execute()
  await setEpoch()
  expect(await emitTest(agentId)).toBe(ahead + 1n)
  const resets = [0n, 1n, 2n, 3n, first - 1n, first, ahead, ahead + 1n, ahead + 2n]
  const [, , , , fourth] = await findEventsAfter(ctx.db, reader, 0n, 10)
  expect(await Promise.all(resets.map((after) => findReset(ctx.db, reader, after)))).toEqual([
    ...[undefined, undefined, undefined, 2n, 2n, undefined, fourth?.seq, undefined, ahead + 1n],
  ])
})

test('findReset: a number older than every stored event is continued with the oldest', async () => {
  const agentId = await newAgent()
  const reader = { kind: 'agent', key: agentId } as const
  for (let count = 0; count < 3; count++) await emitTest(agentId)
  await ctx.db.deleteFrom('events').where('agent_id', '=', agentId).where('seq', '<', 3n).execute()
  expect(await findReset(ctx.db, reader, 1n)).toBeUndefined()
  await ctx.db.deleteFrom('events').where('agent_id', '=', agentId).execute()
  expect(await findReset(ctx.db, reader, 3n)).toBeUndefined()
  expect(await findReset(ctx.db, reader, 4n)).toBe(3n)
})

test('findEventsAfter: returns the event with its time, order and data', async () => {
  const agentId = await newAgent()
  await emitTest(agentId, 'Zoë \u2028 "x"', 'ord_7')
  expect(await findEventsAfter(ctx.db, { kind: 'agent', key: agentId }, 0n, 1)).toEqual([
    {
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
    (await findEventsAfter(ctx.db, { kind: 'agent', key: agentId }, after, limit)).map(({ seq }) => seq)
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
  expect(await findEventsAfter(ctx.db, { kind: 'agent', key: agentId }, 0n, 1)).toMatchObject([
    { event: 'webhook.test' },
  ])
})

test('emit: fails when the agent does not exist', async () => {
  await expect(emitTest('agt_0_0nobody')).rejects.toThrow(/event_counters_agent_id_fkey/)
})

const emitAccepted = (buyer: Buyer, id = 'ord_1') =>
  transact(ctx.db, (tx) =>
    emitToBuyer(ctx, tx, { id, buyer }, { event: 'order.accepted', data: { price_usd: '5.00' } }),
  )

test('emitToBuyer: numbers the events of each buyer from 1 without gaps, and enqueues no job', async () => {
  const agentId = await newAgent()
  const buyers = [`agent:${agentId}`, 'user:numbered', 'wallet:0xnumbered'] as const
  for (const buyer of buyers) {
    const seqs = await Promise.all(Array.from({ length: CONCURRENT }, () => emitAccepted(buyer)))
    expect(seqs.toSorted((a, b) => Number(a - b))).toEqual(numbers(CONCURRENT))
  }
  expect(await findLastSeqs(ctx.db, 'buyer', buyers)).toEqual(
    new Map(buyers.map((buyer) => [buyer, BigInt(CONCURRENT)])),
  )
  expect(await findEventsAfter(ctx.db, { kind: 'agent', key: agentId }, 0n, 1)).toEqual([])
  expect(await jobsOf(agentId)).toEqual([])
})

test('emitToBuyer: stores the order, the time and the data', async () => {
  await emitAccepted('user:stored', 'ord_8')
  expect(await findEventsAfter(ctx.db, { kind: 'buyer', key: 'user:stored' }, 0n, 10)).toEqual([
    {
      seq: 1n,
      at: ctx.clock.now(),
      event: 'order.accepted',
      orderId: 'ord_8',
      data: { price_usd: '5.00' },
    },
  ])
})

test('emitToBuyer: rejects a name that is not a user, wallet or agent', async () => {
  await expect(emitAccepted('admin_key:x' as Buyer)).rejects.toThrow(/buyer_event_counters_buyer_check/)
})

test('lockBuyerEvents: uses no number, and locks several buyers in one order without a deadlock', async () => {
  const [one, other] = ['user:locked-1', 'user:locked-2'] as const
  await Promise.all(
    Array.from({ length: CONCURRENT }, (_, n) =>
      transact(ctx.db, async (tx) => {
        await lockBuyerEvents(tx, ...(n % 2 === 0 ? [one, other] : [other, one]))
        const event = { event: 'order.accepted', data: { price_usd: '5.00' } } as const
        for (const buyer of n % 2 === 0 ? [other, one] : [one, other])
          await emitToBuyer(ctx, tx, { id: 'ord_1', buyer }, event)
      }),
    ),
  )
  for (const key of [one, other]) {
    const events = await findEventsAfter(ctx.db, { kind: 'buyer', key }, 0n, 100)
    expect(events.map(({ seq }) => seq)).toEqual(numbers(CONCURRENT))
  }
})

test('deleteEventsOf: deletes the events of the buyers only, and later numbers continue', async () => {
  await emitAccepted('user:erased')
  await emitAccepted('user:stays')
  await transact(ctx.db, (tx) => deleteEventsOf(tx, ['user:erased']))
  expect(await findEventsAfter(ctx.db, { kind: 'buyer', key: 'user:erased' }, 0n, 10)).toEqual([])
  expect(await findEventsAfter(ctx.db, { kind: 'buyer', key: 'user:stays' }, 0n, 10)).toHaveLength(1)
  expect(await emitAccepted('user:erased')).toBe(2n)
})
