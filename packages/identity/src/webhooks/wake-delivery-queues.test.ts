import { randomUUID } from 'node:crypto'
import { askToCarry } from '@market/core/queue'
import { SECOND } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { wakeDeliveryQueues } from './wake-delivery-queues.ts'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

/** A delivery that has been due for so long; negative for one whose time is still to come. */
async function dueSince(agentId: AgentId, ms: number, ended = false): Promise<void> {
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

const wokenAgents = async () =>
  (
    await sql<{ agent: string }>`
      select payload->>'agentId' as agent from graphile_worker._private_jobs where run_at <= now()`.execute(
      ctx.db,
    )
  ).rows.map(({ agent }) => agent)

test('lanes with something overdue are asked for again, each once, and no others', async () => {
  const [still, busy, waiting, done] = [
    await newAgent(),
    await newAgent(),
    await newAgent(),
    await newAgent(),
  ]
  for (let n = 0; n < 3; n++) await dueSince(still, 21 * SECOND)
  await dueSince(busy, 19 * SECOND)
  await dueSince(waiting, -4 * SECOND)
  await dueSince(done, 60 * SECOND, true)
  expect(await wakeDeliveryQueues(ctx)).toBe(1)
  expect(await wokenAgents()).toEqual([still])
  expect(await wakeDeliveryQueues(ctx)).toBe(1)
  expect(await wokenAgents()).toEqual([still])
})

test('a job that waits for a later attempt does not keep the lane still', async () => {
  const still = await newAgent()
  await dueSince(still, 30 * SECOND)
  await askToCarry(ctx.db, still, { inMs: 3_600_000, why: 'due' })
  await wakeDeliveryQueues(ctx)
  expect(await wokenAgents()).toEqual([still])
})

test('nothing due, nothing asked for', async () => {
  expect(await wakeDeliveryQueues(ctx)).toBe(0)
  expect(await wokenAgents()).toEqual([])
})
