import { randomUUID } from 'node:crypto'
import { emit } from '@market/core/events'
import { queueMetrics } from '@market/core/queue'
import { type Agent, updateAgent } from '@market/identity/agents'
import { startDnsServer, type TestDnsServer } from '@market/testing/dns-server'
import { makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, expect, test } from 'vitest'
import { deliverEventsJob, jobEngine } from './tasks.ts'

type AgentId = Agent['id']

const SECOND = 1_000
const later = (at: Date, ms: number) => new Date(at.getTime() + ms)

const WORKING = { stopping: () => false }
const FAILURE = 'The host name of the endpoint could not be resolved'

let ctx: MarketContext
let dns: TestDnsServer
beforeEach(async () => {
  const database = await testDatabase()
  dns = await startDnsServer({ 'hooks.example': ['93.184.216.34'] })
  ctx = marketContext({ db: database.db, resolver: dns.resolver })
  return async () => {
    await dns.stop()
    await database.stop()
  }
})

/** An agent with one event, whose endpoint no longer resolves. */
async function unreachableAgent(
  endpointUrl: string | undefined = 'https://hooks.example/in',
): Promise<AgentId> {
  const { agent } = await makeListedAgent(ctx, { endpointUrl })
  dns.answers.delete('hooks.example')
  const event = { agentId: agent.id, event: 'webhook.test', data: { message: 'Hello' } } as const
  await ctx.transact((tx) => emit(ctx, tx, event))
  return agent.id
}

const deliveries = () => ctx.db.selectFrom('deliveries').selectAll().execute()
const notifications = () => ctx.db.selectFrom('notifications').select(['kind', 'data']).execute()
const queueOf = (agentId: AgentId) =>
  ctx.db.selectFrom('delivery_queues').selectAll().where('agent_id', '=', agentId).executeTakeFirstOrThrow()

test('an event is sent at once, 1 s after the first failure and 4 s after the second; then it is dropped and the owner is notified', async () => {
  const agentId = await unreachableAgent()
  for (const [attempts, gap] of [
    [1, 1 * SECOND],
    [2, 4 * SECOND],
  ] as const) {
    await deliverEventsJob(ctx, { agentId }, WORKING)
    const due_at = later(ctx.clock.now(), gap)
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts, due_at, failure: FAILURE }])
    ctx.clock.advance(gap - 1)
    await deliverEventsJob(ctx, { agentId }, WORKING)
    expect(await deliveries()).toMatchObject([{ attempts }])
    ctx.clock.advance(1)
  }
  expect(await notifications()).toEqual([])
  await deliverEventsJob(ctx, { agentId }, WORKING)
  const [dropped] = await deliveries()
  expect(dropped).toMatchObject({ status: 'dropped', attempts: 3, due_at: null, ended_at: ctx.clock.now() })
  expect(await notifications()).toMatchObject([
    { kind: 'webhook.dropped', data: { agent_id: agentId, delivery_id: dropped?.id, cursor: '1' } },
  ])
  ctx.clock.advance(60 * SECOND)
  await deliverEventsJob(ctx, { agentId }, WORKING)
  expect(await deliveries()).toEqual([dropped])
  expect(await notifications()).toHaveLength(1)
})

test('events from before an agent set its endpoint are not sent', async () => {
  const { agent } = await makeListedAgent(ctx)
  await ctx.transact((tx) =>
    emit(ctx, tx, { agentId: agent.id, event: 'webhook.test', data: { message: 'a' } }),
  )
  await deliverEventsJob(ctx, { agentId: agent.id }, WORKING)
  expect(await queueOf(agent.id)).toMatchObject({ last_seq: 1n, held_until: new Date(0) })
  await updateAgent(ctx, agent.id, { endpointUrl: 'https://hooks.example/in' }, { editor: 'itself' })
  await deliverEventsJob(ctx, { agentId: agent.id }, WORKING)
  expect(await deliveries()).toEqual([])
})

test('a queue leased by another worker is delivered after the lease expired', async () => {
  const agentId = await unreachableAgent()
  const lease = { holder: randomUUID(), held_until: later(ctx.clock.now(), 10 * SECOND) }
  await ctx.db
    .insertInto('delivery_queues')
    .values({ agent_id: agentId, ...lease })
    .execute()
  await deliverEventsJob(ctx, { agentId }, WORKING)
  expect(await deliveries()).toEqual([])
  expect(await queueOf(agentId)).toMatchObject({ ...lease, last_seq: 0n })
  ctx.clock.advance(10 * SECOND)
  await deliverEventsJob(ctx, { agentId }, WORKING)
  expect(await deliveries()).toMatchObject([{ attempts: 1 }])
})

test('concurrent jobs attempt each delivery once', async () => {
  const agentId = await unreachableAgent()
  await Promise.all(Array.from({ length: 6 }, () => deliverEventsJob(ctx, { agentId }, WORKING)))
  expect(await deliveries()).toMatchObject([{ attempts: 1 }])
})

test('a stopping process sends nothing and enqueues the job again', async () => {
  const agentId = await unreachableAgent()
  const { tasks } = jobEngine(ctx, { stopping: () => true }, 1)
  expect(Object.keys(tasks)).toEqual(['deliver-events'])
  await tasks['deliver-events']?.({ agentId }, undefined as never)
  expect(await deliveries()).toEqual([])
  expect((await queueMetrics(ctx)).waiting).toBe(1)
})
