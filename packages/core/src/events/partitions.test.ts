import { transact } from '@market/database/transact'
import { maintainDeliveryPartitions } from '@market/identity/webhooks'
import type { AgentId } from '@market/kernel/ids'
import { testClock } from '@market/testing/clock'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { emit, emitToBuyer } from './emit.ts'
import { maintainEventPartitions } from './partitions.ts'
import { findEventsAfter } from './store.ts'

let ctx: MarketContext
let agentId: AgentId
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-15T12:00:00Z')) })
  agentId = (await makeAgent(ctx)).agent.id
  return database.stop
})

async function partitionsOf(table: 'events' | 'buyer_events' | 'deliveries'): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on oid = inhrelid
    where inhparent = ${table}::regclass and relname like ${`${table}\\_2031%`} order by 1`.execute(ctx.db)
  return rows.map(({ name }) => name)
}

const emitAt = (at: string) => {
  ctx.clock.set(new Date(at))
  return transact(ctx.db, (tx) => emit(ctx, tx, { agentId, event: 'webhook.test', data: { message: at } }))
}

const messages = async () =>
  (await findEventsAfter(ctx.db, { kind: 'agent', key: agentId }, 0n, 100)).map(
    ({ data }) => (data as { message: string }).message,
  )

const partitionOfEachEvent = async () =>
  (
    await sql<{
      partition: string
    }>`select tableoid::regclass::text as partition from events order by seq`.execute(ctx.db)
  ).rows.map(({ partition }) => partition)

test('creates the partitions of this month and the next two, once', async () => {
  await maintainEventPartitions(ctx)
  await maintainEventPartitions(ctx)
  expect(await partitionsOf('events')).toEqual(['events_203101', 'events_203102', 'events_203103'])
  expect(await partitionsOf('buyer_events')).toEqual([
    'buyer_events_203101',
    'buyer_events_203102',
    'buyer_events_203103',
  ])
  await maintainDeliveryPartitions(ctx)
  expect(await partitionsOf('deliveries')).toEqual([
    'deliveries_203101',
    'deliveries_203102',
    'deliveries_203103',
  ])
})

test('concurrent calls create each partition once and do not fail', async () => {
  await Promise.all(Array.from({ length: 8 }, () => maintainEventPartitions(ctx)))
  expect(await partitionsOf('events')).toHaveLength(3)
  ctx.clock.set(new Date('2031-12-01T00:00:00Z'))
  await Promise.all(Array.from({ length: 8 }, () => maintainEventPartitions(ctx)))
  expect(await partitionsOf('events')).toEqual(['events_203112'])
})

test('moves rows of the default partition into the new one, exactly within its bounds', async () => {
  const times = [
    '2030-12-31T23:59:59.999Z',
    '2031-01-01T00:00:00.000Z',
    '2031-01-31T23:59:59.999Z',
    '2031-02-01T00:00:00.000Z',
    '2031-04-01T00:00:00.000Z',
  ]
  for (const at of times) await emitAt(at)
  expect(new Set(await partitionOfEachEvent())).toEqual(new Set(['events_other']))
  ctx.clock.set(new Date('2031-01-15T00:00:00Z'))
  await maintainEventPartitions(ctx)
  expect(await partitionOfEachEvent()).toEqual([
    'events_other',
    'events_203101',
    'events_203101',
    'events_203102',
    'events_other',
  ])
  expect(await messages()).toEqual(times)
})

test('events in a partition created later cannot be updated', async () => {
  await emitAt('2031-01-20T00:00:00Z')
  await maintainEventPartitions(ctx)
  await emitAt('2031-01-21T00:00:00Z')
  expect(await partitionOfEachEvent()).toEqual(['events_203101', 'events_203101'])
  await expect(ctx.db.updateTable('events').set({ event: 'order.paid' }).execute()).rejects.toThrow()
})

test('drops a partition when its last day is more than 90 days ago, and not a millisecond earlier', async () => {
  await maintainEventPartitions(ctx)
  await emitAt('2031-01-01T00:00:00Z')
  await emitAt('2031-01-31T23:59:59.999Z')
  await emitAt('2031-02-01T00:00:00Z')
  ctx.clock.set(new Date('2031-05-01T23:59:59.999Z'))
  await maintainEventPartitions(ctx)
  expect(await messages()).toHaveLength(3)
  ctx.clock.set(new Date('2031-05-02T00:00:00Z'))
  await maintainEventPartitions(ctx)
  expect(await messages()).toEqual(['2031-02-01T00:00:00Z'])
  expect(await partitionsOf('events')).not.toContain('events_203101')
  expect(await emitAt('2031-05-02T00:00:01Z')).toBe(4n)
})

test('events of buyers: cannot be updated, and are dropped when their month is more than 90 days ago', async () => {
  await maintainEventPartitions(ctx)
  const reader = { kind: 'buyer', key: 'user:u1' } as const
  const emitToUser = (at: string) => {
    ctx.clock.set(new Date(at))
    const event = { event: 'order.accepted', data: { price_usd: '1.00' } } as const
    return transact(ctx.db, (tx) => emitToBuyer(ctx, tx, { id: 'ord_1', buyer: reader.key }, event))
  }
  await emitToUser('2031-01-31T23:59:59.999Z')
  await emitToUser('2031-02-01T00:00:00Z')
  await expect(ctx.db.updateTable('buyer_events').set({ event: 'order.paid' }).execute()).rejects.toThrow(
    'append-only',
  )
  ctx.clock.set(new Date('2031-05-02T00:00:00Z'))
  await maintainEventPartitions(ctx)
  expect((await findEventsAfter(ctx.db, reader, 0n, 10)).map(({ seq }) => seq)).toEqual([2n])
  expect(await partitionsOf('buyer_events')).not.toContain('buyer_events_203101')
  expect(await emitToUser('2031-05-02T00:00:01Z')).toBe(3n)
})

test('maintaining one table leaves the partitions of the other', async () => {
  await maintainEventPartitions(ctx)
  await maintainDeliveryPartitions(ctx)
  ctx.clock.set(new Date('2031-12-15T00:00:00Z'))
  await maintainEventPartitions(ctx)
  expect(await partitionsOf('events')).toEqual(['events_203112'])
  expect(await partitionsOf('deliveries')).toHaveLength(3)
})
