import { transact } from '@market/database/transact'
import { keepDeliveryMonths } from '@market/identity/webhooks'
import type { AgentId } from '@market/kernel/ids'
import { testClock } from '@market/testing/clock'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { emit } from './emit.ts'
import { keepEventMonths } from './keep-event-months.ts'
import { findEventsAfter } from './list-events.ts'

let ctx: MarketContext
let agentId: AgentId
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-15T12:00:00Z')) })
  agentId = (await makeAgent(ctx)).agent.id
  return database.stop
})

async function monthsOf(table: 'events' | 'deliveries'): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on oid = inhrelid
    where inhparent = ${table}::regclass and relname like ${`${table}\\_2031%`} order by 1`.execute(ctx.db)
  return rows.map(({ name }) => name)
}

const happenAt = (at: string) => {
  ctx.clock.set(new Date(at))
  return transact(ctx.db, (tx) => emit(ctx, tx, { agentId, event: 'webhook.test', data: { message: at } }))
}

const messages = async () =>
  (await findEventsAfter(ctx, agentId, 0n, 100)).map(({ data }) => (data as { message: string }).message)

const placesOf = async () =>
  (
    await sql<{ place: string }>`select tableoid::regclass::text as place from events order by seq`.execute(
      ctx.db,
    )
  ).rows.map(({ place }) => place)

test('this month and the two to come are made, once', async () => {
  await keepEventMonths(ctx)
  await keepEventMonths(ctx)
  expect(await monthsOf('events')).toEqual(['events_203101', 'events_203102', 'events_203103'])
  await keepDeliveryMonths(ctx)
  expect(await monthsOf('deliveries')).toEqual([
    'deliveries_203101',
    'deliveries_203102',
    'deliveries_203103',
  ])
})

test('made by many at once, each month is made once and nobody fails', async () => {
  await Promise.all(Array.from({ length: 8 }, () => keepEventMonths(ctx)))
  expect(await monthsOf('events')).toHaveLength(3)
  ctx.clock.set(new Date('2031-12-01T00:00:00Z'))
  await Promise.all(Array.from({ length: 8 }, () => keepEventMonths(ctx)))
  expect(await monthsOf('events')).toEqual(['events_203112'])
})

test('what had to wait without a month moves into it, whole and in order, to the millisecond of its bounds', async () => {
  const times = [
    '2030-12-31T23:59:59.999Z',
    '2031-01-01T00:00:00.000Z',
    '2031-01-31T23:59:59.999Z',
    '2031-02-01T00:00:00.000Z',
    '2031-04-01T00:00:00.000Z',
  ]
  for (const at of times) await happenAt(at)
  expect(new Set(await placesOf())).toEqual(new Set(['events_other']))
  ctx.clock.set(new Date('2031-01-15T00:00:00Z'))
  await keepEventMonths(ctx)
  expect(await placesOf()).toEqual([
    'events_other',
    'events_203101',
    'events_203101',
    'events_203102',
    'events_other',
  ])
  expect(await messages()).toEqual(times)
})

test('a month that was made later keeps what happened from being written anew', async () => {
  await happenAt('2031-01-20T00:00:00Z')
  await keepEventMonths(ctx)
  await happenAt('2031-01-21T00:00:00Z')
  expect(await placesOf()).toEqual(['events_203101', 'events_203101'])
  await expect(ctx.db.updateTable('events').set({ event: 'order.paid' }).execute()).rejects.toThrow()
})

test('a month goes when its last day is more than 90 days past, and not an instant before', async () => {
  await keepEventMonths(ctx)
  await happenAt('2031-01-01T00:00:00Z')
  await happenAt('2031-01-31T23:59:59.999Z')
  await happenAt('2031-02-01T00:00:00Z')
  ctx.clock.set(new Date('2031-05-01T23:59:59.999Z'))
  await keepEventMonths(ctx)
  expect(await messages()).toHaveLength(3)
  ctx.clock.set(new Date('2031-05-02T00:00:00Z'))
  await keepEventMonths(ctx)
  expect(await messages()).toEqual(['2031-02-01T00:00:00Z'])
  expect(await monthsOf('events')).not.toContain('events_203101')
  expect(await happenAt('2031-05-02T00:00:01Z')).toBe(4n)
})

test('the months of one table leave those of the other alone', async () => {
  await keepEventMonths(ctx)
  await keepDeliveryMonths(ctx)
  ctx.clock.set(new Date('2031-12-15T00:00:00Z'))
  await keepEventMonths(ctx)
  expect(await monthsOf('events')).toEqual(['events_203112'])
  expect(await monthsOf('deliveries')).toHaveLength(3)
})
