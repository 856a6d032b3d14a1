import { randomUUID } from 'node:crypto'
import { enqueueDelivery } from '@market/core/queue'
import { SECOND } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { enqueueOverdueDeliveries } from './enqueue-overdue.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

/** Inserts a delivery that has been due for `ms`; negative when it is due in the future. */
async function insertDelivery(agentId: AgentId, ms: number, ended = false): Promise<void> {
  const now = ctx.clock.now()
  const dueAt = new Date(now.getTime() - ms)
  await ctx.db
    .insertInto('deliveries')
    .values({
      id: randomUUID(),
      created_at: now,
      agent_id: agentId,
      seq: 1n,
      event: 'order.paid',
      order_id: 'ord_1',
      ...(ended ? { status: 'delivered', ended_at: dueAt } : { status: 'pending', due_at: dueAt }),
    })
    .execute()
}

const newAgent = async (): Promise<AgentId> => (await makeAgent(ctx)).agent.id

const agentsWithJob = async () =>
  (
    await sql<{ agent: string }>`
      select payload->>'agentId' as agent from graphile_worker._private_jobs where run_at <= now()`.execute(
      ctx.db,
    )
  ).rows.map(({ agent }) => agent)

test('enqueues one job for each agent with an overdue delivery, and none for others', async () => {
  const [overdue, recent, future, ended] = [
    await newAgent(),
    await newAgent(),
    await newAgent(),
    await newAgent(),
  ]
  for (let n = 0; n < 3; n++) await insertDelivery(overdue, 21 * SECOND)
  await insertDelivery(recent, 19 * SECOND)
  await insertDelivery(future, -4 * SECOND)
  await insertDelivery(ended, 60 * SECOND, true)
  expect(await enqueueOverdueDeliveries(ctx)).toBe(1)
  expect(await agentsWithJob()).toEqual([overdue])
  expect(await enqueueOverdueDeliveries(ctx)).toBe(1)
  expect(await agentsWithJob()).toEqual([overdue])
})

test('enqueues a job although one for a later attempt waits', async () => {
  const overdue = await newAgent()
  await insertDelivery(overdue, 30 * SECOND)
  await enqueueDelivery(ctx.db, overdue, { delayMs: 3_600_000, reason: 'due' })
  await enqueueOverdueDeliveries(ctx)
  expect(await agentsWithJob()).toEqual([overdue])
})

test('enqueues nothing when no delivery is overdue', async () => {
  expect(await enqueueOverdueDeliveries(ctx)).toBe(0)
  expect(await agentsWithJob()).toEqual([])
})
