import { DAY } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { testClock } from '@market/testing/clock'
import { makeListing } from '@market/testing/make-listing'
import { makeAgent, makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { ACTIVITY_KINDS, type ActivityKind } from './activity.ts'
import { deleteOldActivity } from './delete-old.ts'
import { listActivity } from './list-activity.ts'
import { deleteActivity, deleteActivityOf, recordActivity } from './store.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-01T00:00:00Z')) })
  return () => database.stop()
})

/** Every feed begins with the registration of its agent. */
const newAgent = async (): Promise<AgentId> => (await makeListedAgent(ctx)).agent.id

const launch = (agentId: AgentId, id: string) =>
  ctx.transact((tx) => recordActivity(tx, 'token_launch', { id, agentId, createdAt: ctx.clock.now() }))

const list = (kind?: ActivityKind, limit = 100, cursor?: string) => listActivity(ctx, { kind, limit, cursor })
const kinds = async (kind?: ActivityKind) => (await list(kind)).activity.map((item) => item.kind)

test('listActivity: newest first, by kind, in pages that repeat and skip nothing', async () => {
  const agentId = await newAgent()
  for (let n = 0; n < 7; n++) {
    // Several at one moment, which only their number orders.
    if (n % 3 === 0) ctx.clock.advance(1_000)
    await launch(agentId, `token ${n}`)
  }
  await makeListing(ctx, agentId)
  const { activity: all } = await list()
  expect(all.map(({ kind }) => kind)).toEqual([
    'service',
    ...Array.from({ length: 7 }, () => 'token_launch'),
    'registration',
  ])
  const paged: unknown[] = []
  let cursor: string | undefined
  do {
    const page = await list(undefined, 2, cursor)
    paged.push(...page.activity)
    cursor = page.nextCursor(page.activity.length) ?? undefined
    if (paged.length === 4) await launch(agentId, 'between two pages')
  } while (cursor !== undefined)
  expect(paged).toEqual(all)
  expect(await kinds('service')).toEqual(['service'])
  expect(await kinds('review')).toEqual([])
})

test('recordActivity: a subject is in the feed once', async () => {
  const agentId = await newAgent()
  await Promise.all([launch(agentId, 'token'), launch(agentId, 'token')])
  expect(await kinds('token_launch')).toHaveLength(1)
})

test('recordActivity: nothing of an agent without an owner, or whose owner deleted the account', async () => {
  const { agent } = await makeAgent(ctx)
  await makeListing(ctx, agent.id)
  await launch(agent.id, 'token')
  const closed = await newAgent()
  await sql`update agents set closed_at = now() where id = ${closed}`.execute(ctx.db)
  await launch(closed, 'other token')
  expect(await kinds()).toEqual(['registration'])
})

test('recordActivity: nothing when the transaction is rolled back', async () => {
  const agentId = await newAgent()
  const failed = ctx.transact(async (tx) => {
    await recordActivity(tx, 'token_launch', { id: 'token', agentId, createdAt: ctx.clock.now() })
    throw new Error('rolled back')
  })
  await expect(failed).rejects.toThrow('rolled back')
  expect(await kinds()).toEqual(['registration'])
})

test('deleteActivity, deleteActivityOf: remove one subject, and everything of one agent', async () => {
  const [agentId, other] = [await newAgent(), await newAgent()]
  await launch(agentId, 'first')
  await launch(agentId, 'second')
  await launch(other, 'third')
  await ctx.transact((tx) => deleteActivity('token_launch', { id: 'first' }).execute(tx))
  expect(await kinds('token_launch')).toHaveLength(2)
  await ctx.transact((tx) => deleteActivityOf(tx, agentId))
  expect((await list()).activity.map((item) => item.agentId)).toEqual([other, other])
})

test('deleteOldActivity: deletes what is more than 90 days old, also when two workers run it', async () => {
  const agentId = await newAgent()
  ctx.clock.advance(90 * DAY)
  await launch(agentId, 'token')
  await deleteOldActivity(ctx)
  expect(await kinds()).toEqual(['token_launch', 'registration'])
  ctx.clock.advance(1_000)
  await Promise.all([deleteOldActivity(ctx), deleteOldActivity(ctx)])
  expect(await kinds()).toEqual(['token_launch'])
})

test('activity: the table allows exactly the kinds of the code', async () => {
  const { rows } = await sql<{ definition: string }>`
    select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'activity_kind_check'`.execute(
    ctx.db,
  )
  const named = [...(rows[0]?.definition ?? '').matchAll(/'(\w+)'::text/g)].map(([, name]) => name)
  expect(named.toSorted()).toEqual([...ACTIVITY_KINDS].toSorted())
})
