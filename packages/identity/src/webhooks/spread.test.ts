import { emit } from '@market/core/events'
import type { OutboundRequest, OutboundResponse } from '@market/core/ports/outbound'
import type { AgentId } from '@market/kernel/ids'
import { makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, expect, test } from 'vitest'
import { deliverEvents } from './deliver-events.ts'
import { MAX_CONCURRENT, SPREAD_MS } from './delivery-queue.ts'

interface Post {
  readonly url: string
  readonly startedAt: number
  readonly respond: (status: number) => void
}

let base: MarketContext
let posts: Post[]
let ctx: MarketContext
let onPost: (post: Post) => void
beforeEach(async () => {
  const database = await testDatabase()
  base = marketContext({ db: database.db })
  posts = []
  onPost = () => {}
  const post = ({ url }: OutboundRequest): Promise<OutboundResponse> => {
    const { promise, resolve } = Promise.withResolvers<OutboundResponse>()
    const made = {
      url,
      startedAt: performance.now(),
      respond: (status: number) => resolve({ status, body: '' }),
    }
    posts.push(made)
    onPost(made)
    return promise
  }
  ctx = { ...base, outbound: { ...base.outbound, checkUrl: async () => {}, post } }
  return database.stop
})

async function agentWithEvents(name: string, count: number): Promise<AgentId> {
  const { agent } = await makeListedAgent(ctx, { endpointUrl: `https://${name}.example/in` })
  // An endpoint that never responded with 2xx gets one attempt at a time.
  await ctx.db.updateTable('agents').set({ endpoint_proven_at: ctx.clock.now() }).execute()
  for (let n = 0; n < count; n++)
    await ctx.transact((tx) =>
      emit(ctx, tx, { agentId: agent.id, event: 'webhook.test', data: { message: `${n}` } }),
    )
  return agent.id
}

const deliver = (agentId: AgentId) => deliverEvents(ctx, agentId, () => false)
const started = async (count: number) => {
  while (posts.length < count) await new Promise((resolve) => setTimeout(resolve, 1))
}

test('spread: eight first attempts to an endpoint that never failed start together', async () => {
  const agentId = await agentWithEvents('healthy', MAX_CONCURRENT)
  const delivering = deliver(agentId)
  await started(MAX_CONCURRENT)
  for (const { respond } of posts) respond(200)
  await delivering
  expect(posts).toHaveLength(MAX_CONCURRENT)
})

/** Eight deliveries whose first attempt failed and whose second is due. */
async function agentWithRetries(): Promise<AgentId> {
  const agentId = await agentWithEvents('failed', MAX_CONCURRENT)
  onPost = ({ respond }) => respond(500)
  await deliver(agentId)
  ctx.clock.advance(1_000)
  posts.length = 0
  onPost = () => {}
  return agentId
}

test('spread: retries to an endpoint that hangs start apart', async () => {
  const agentId = await agentWithRetries()
  const delivering = deliver(agentId)
  await started(MAX_CONCURRENT)
  const starts = posts.map(({ startedAt }) => startedAt)
  const gaps = starts.slice(1).map((at, place) => at - (starts[place] ?? 0))
  // Timers may fire up to a millisecond early; a slow machine makes gaps only longer.
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(SPREAD_MS - 2)
  for (const { respond } of posts) respond(500)
  await delivering
})

test('spread: retries to an endpoint that fails at once go one at a time', async () => {
  const agentId = await agentWithRetries()
  let open = 0
  let mostOpen = 0
  onPost = ({ respond }) => {
    open += 1
    mostOpen = Math.max(mostOpen, open)
    setImmediate(() => {
      open -= 1
      respond(500)
    })
  }
  await deliver(agentId)
  expect([posts.length, mostOpen]).toEqual([MAX_CONCURRENT, 1])
})

test('spread: when one retry succeeds, the rest of the round starts together', async () => {
  const agentId = await agentWithRetries()
  onPost = ({ respond }) => {
    if (posts.length === 1) respond(200)
  }
  const delivering = deliver(agentId)
  await started(2)
  expect(posts).toHaveLength(MAX_CONCURRENT)
  for (const { respond } of posts) respond(200)
  await delivering
})

test('spread: deliveries to a healthy endpoint end while all attempts to another one hang', async () => {
  const hanging = await agentWithRetries()
  const healthy = await agentWithEvents('healthy', MAX_CONCURRENT)
  const isHanging = ({ url }: Post) => url.includes('failed')
  onPost = (post) => {
    if (!isHanging(post)) post.respond(200)
  }
  const delivering = deliver(hanging)
  await started(1)
  await deliver(healthy)
  const ended = await ctx.db
    .selectFrom('deliveries')
    .select('status')
    .where('agent_id', '=', healthy)
    .execute()
  expect(ended.map(({ status }) => status)).toEqual(Array(MAX_CONCURRENT).fill('delivered'))
  await started(2 * MAX_CONCURRENT)
  for (const post of posts.filter(isHanging)) post.respond(500)
  await delivering
})
