import { emit } from '@market/core/events'
import { listNotifications } from '@market/core/notifications'
import type { OutboundRequest } from '@market/core/ports/outbound'
import { HOUR, SECOND } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { updateAgent } from '../agents/index.ts'
import { deliverEvents } from './deliver-events.ts'
import { sendTest } from './send-test.ts'
import { deleteOldAttempts, UNPROVEN_MAX } from './unproven.ts'

let ctx: MarketContext
let posts: string[]
/** What an endpoint responds with. */
let statusOf: (url: string) => number
beforeEach(async () => {
  const database = await testDatabase()
  const base = marketContext({ db: database.db })
  posts = []
  statusOf = () => 500
  const post = async ({ url }: OutboundRequest) => {
    posts.push(url)
    return { status: statusOf(url), body: '' }
  }
  ctx = { ...base, outbound: { ...base.outbound, checkUrl: async () => {}, post } }
  return database.stop
})

const agentAt = async (endpointUrl: string) => (await makeListedAgent(ctx, { endpointUrl })).agent

const emitTo = (agentId: AgentId) =>
  ctx.transact((tx) => emit(ctx, tx, { agentId, event: 'webhook.test', data: { message: 'x' } }))

/** Runs the agent's jobs until no delivery waits. The clock moves to when each is due. */
async function deliverAll(agentId: AgentId): Promise<void> {
  for (let run = 0; run < 100; run++) {
    const next = await deliverEvents(ctx, agentId, () => false)
    if (next === undefined) return
    ctx.clock.advance(next.delayMs)
  }
  throw new Error('deliveries wait for ever')
}

async function send(agentId: AgentId, events: number): Promise<void> {
  for (let n = 0; n < events; n++) await emitTo(agentId)
  await deliverAll(agentId)
}

const deliveriesOf = (agentId: AgentId) =>
  ctx.db.selectFrom('deliveries').selectAll().where('agent_id', '=', agentId).orderBy('seq').execute()
const failuresOf = async (agentId: AgentId) =>
  Object.groupBy(await deliveriesOf(agentId), ({ failure }) => failure ?? 'none')

const UNPROVEN = 'The endpoint has never responded with 2xx, so it gets at most 10 attempts an hour'

test('unproven endpoint: gets 10 attempts an hour; what is above is dropped with its reason and stays readable', async () => {
  const agent = await agentAt('https://victim.example/in')
  await send(agent.id, 20)
  expect(posts).toHaveLength(UNPROVEN_MAX.url)
  const deliveries = await deliveriesOf(agent.id)
  expect(deliveries.map(({ status }) => status)).toEqual(Array(20).fill('dropped'))
  const dropped = deliveries.filter(({ failure }) => failure === UNPROVEN)
  expect(dropped.length).toBeGreaterThan(10)
  expect(deliveries.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(UNPROVEN_MAX.url)
  const events = await ctx.db.selectFrom('events').select('seq').where('agent_id', '=', agent.id).execute()
  expect(events).toHaveLength(20)

  ctx.clock.advance(HOUR)
  await send(agent.id, 1)
  expect(posts).toHaveLength(UNPROVEN_MAX.url + 3)
})

test('unproven endpoint: the owner gets one notification about all dropped deliveries', async () => {
  const agent = await agentAt('https://victim.example/in')
  for (let n = 0; n < 8; n++) await send(agent.id, 1)
  const recipient = `wallet:${agent.ownerWallet}` as const
  const { notifications } = await listNotifications(
    ctx,
    [agent.ownerUserId === null ? recipient : `user:${agent.ownerUserId}`],
    { limit: 100, cursor: undefined },
  )
  const own = notifications.filter(({ kind }) => kind === 'webhook.dropped')
  expect(own.filter(({ body }) => body.startsWith(UNPROVEN))).toHaveLength(1)
  expect(own.filter(({ body }) => body.startsWith('Three delivery attempts failed'))).toHaveLength(3)
})

test('unproven endpoint: the first 2xx ends the limit, and drops none of a burst', async () => {
  statusOf = () => 200
  const agent = await agentAt('https://fine.example/in')
  await send(agent.id, 50)
  expect(posts).toHaveLength(50)
  statusOf = () => 500
  await send(agent.id, 10)
  expect(posts).toHaveLength(50 + 10 * 3)
  expect(await failuresOf(agent.id)).not.toHaveProperty(UNPROVEN)
})

test('unproven endpoint: another endpoint_url has to respond with 2xx again', async () => {
  statusOf = () => 200
  const agent = await agentAt('https://fine.example/in')
  await send(agent.id, 1)
  statusOf = () => 500
  await updateAgent(ctx, agent.id, { endpointUrl: 'https://victim.example/in' }, { editor: 'itself' })
  await send(agent.id, 10)
  expect(posts.filter((url) => url.includes('victim'))).toHaveLength(UNPROVEN_MAX.url)

  await updateAgent(ctx, agent.id, { endpointUrl: 'https://victim.example/other' }, { editor: 'itself' })
  await send(agent.id, 10)
  expect(posts.filter((url) => url.endsWith('/other'))).toHaveLength(UNPROVEN_MAX.url)
})

test('unproven endpoint: agents with the same URL share its attempts, whatever its query is', async () => {
  const first = await agentAt('https://victim.example/in?agent=1')
  const second = await agentAt('https://victim.example/in?agent=2')
  await send(first.id, 3)
  await send(second.id, 3)
  expect(posts).toHaveLength(UNPROVEN_MAX.url)
})

test('unproven endpoint: concurrent agents together do not exceed the attempts of a host', async () => {
  const agents = []
  for (let n = 0; n < 6; n++) agents.push(await agentAt(`https://victim.example/${n}`))
  for (const { id } of agents) for (let n = 0; n < 4; n++) await emitTo(id)
  for (let round = 0; round < 8; round++) {
    await Promise.all(agents.map(({ id }) => deliverEvents(ctx, id, () => false)))
    ctx.clock.advance(4 * SECOND)
  }
  expect(posts).toHaveLength(UNPROVEN_MAX.host)
})

test('unproven endpoint: an agent that names other hosts has 30 attempts in all', async () => {
  const agent = await agentAt('https://h0.example/in')
  for (let n = 1; n <= 6; n++) {
    await send(agent.id, 3)
    await updateAgent(ctx, agent.id, { endpointUrl: `https://h${n}.example/in` }, { editor: 'itself' })
  }
  expect(posts).toHaveLength(UNPROVEN_MAX.agent)
})

test('unproven endpoint: failures of some agents on a host do not stop a host that is proven', async () => {
  statusOf = (url) => (url.endsWith('/bad') ? 500 : 200)
  await send((await agentAt('https://shared.example/first')).id, 1)
  for (let n = 0; n < 5; n++) await send((await agentAt(`https://shared.example/${n}/bad`)).id, 4)
  const last = await agentAt('https://shared.example/last')
  await send(last.id, 1)
  expect((await deliveriesOf(last.id)).map(({ status }) => status)).toEqual(['delivered'])
})

test('unproven endpoint: tests count too, are 429 above the maximum, and prove the endpoint', async () => {
  const agent = await agentAt('https://slow.example/in')
  for (let n = 0; n < UNPROVEN_MAX.url; n++) await sendTest(ctx, agent)
  ctx.clock.advance(11 * SECOND)
  await expect(sendTest(ctx, agent)).rejects.toMatchObject({
    kind: 'rate_limited',
    extra: { code: 'endpoint_unproven', retryAfterSeconds: 3589 },
  })
  expect(posts).toHaveLength(UNPROVEN_MAX.url)
  ctx.clock.advance(HOUR)
  statusOf = () => 204
  await sendTest(ctx, agent)
  statusOf = () => 500
  await send(agent.id, 10)
  expect(posts).toHaveLength(UNPROVEN_MAX.url + 1 + 30)
})

test('deleteOldAttempts: deletes counters after their hour, and keeps proven hosts', async () => {
  statusOf = (url) => (url.includes('fine') ? 200 : 500)
  await send((await agentAt('https://fine.example/in')).id, 1)
  await send((await agentAt('https://victim.example/in')).id, 1)
  expect(await deleteOldAttempts(ctx)).toBe(0)
  ctx.clock.advance(2 * HOUR)
  await deleteOldAttempts(ctx)
  const { rows } = await sql`select subject from unproven_attempts`.execute(ctx.db)
  expect(rows).toEqual([{ subject: 'host:fine.example' }])
})
