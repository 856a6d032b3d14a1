import { emit } from '@market/core/events'
import type { OutboundRequest, OutboundResponse } from '@market/core/ports/outbound'
import type { AgentId } from '@market/kernel/ids'
import { makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, expect, test } from 'vitest'
import { carryEvents } from './carry-events.ts'
import { ABREAST, SPREAD_MS } from './delivery-queue.ts'

interface Post {
  readonly url: string
  readonly startedAt: number
  readonly answer: (status: number) => void
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
      answer: (status: number) => resolve({ status, body: '' }),
    }
    posts.push(made)
    onPost(made)
    return promise
  }
  ctx = { ...base, outbound: { check: async () => {}, post } }
  return database.stop
})

async function agentWithEvents(name: string, count: number): Promise<AgentId> {
  const { agent } = await makeListedAgent(ctx, { endpointUrl: `https://${name}.example/in` })
  for (let n = 0; n < count; n++)
    await ctx.transact((tx) =>
      emit(ctx, tx, { agentId: agent.id, event: 'webhook.test', data: { message: `${n}` } }),
    )
  return agent.id
}

const carry = (agentId: AgentId) => carryEvents(ctx, agentId, () => false)
const started = async (count: number) => {
  while (posts.length < count) await new Promise((resolve) => setTimeout(resolve, 1))
}

test('spread: eight first attempts to an endpoint that never failed start together', async () => {
  const agentId = await agentWithEvents('healthy', ABREAST)
  const carrying = carry(agentId)
  await started(ABREAST)
  for (const { answer } of posts) answer(200)
  await carrying
  expect(posts).toHaveLength(ABREAST)
})

/** Eight deliveries whose first attempt failed and whose second is due. */
async function agentWithRetries(): Promise<AgentId> {
  const agentId = await agentWithEvents('failed', ABREAST)
  onPost = ({ answer }) => answer(500)
  await carry(agentId)
  ctx.clock.advance(1_000)
  posts.length = 0
  onPost = () => {}
  return agentId
}

test('spread: retries to an endpoint that hangs start apart', async () => {
  const agentId = await agentWithRetries()
  const carrying = carry(agentId)
  await started(ABREAST)
  const starts = posts.map(({ startedAt }) => startedAt)
  const gaps = starts.slice(1).map((at, place) => at - (starts[place] ?? 0))
  // Timers may fire up to a millisecond early; a slow machine makes gaps only longer.
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(SPREAD_MS - 2)
  for (const { answer } of posts) answer(500)
  await carrying
})

test('spread: retries to an endpoint that fails at once go one at a time', async () => {
  const agentId = await agentWithRetries()
  let open = 0
  let mostOpen = 0
  onPost = ({ answer }) => {
    open += 1
    mostOpen = Math.max(mostOpen, open)
    setImmediate(() => {
      open -= 1
      answer(500)
    })
  }
  await carry(agentId)
  expect([posts.length, mostOpen]).toEqual([ABREAST, 1])
})

test('spread: when one retry succeeds, the rest of the round starts together', async () => {
  const agentId = await agentWithRetries()
  onPost = ({ answer }) => {
    if (posts.length === 1) answer(200)
  }
  const carrying = carry(agentId)
  await started(2)
  expect(posts).toHaveLength(ABREAST)
  for (const { answer } of posts) answer(200)
  await carrying
})

test('spread: deliveries to a healthy endpoint end while all attempts to another one hang', async () => {
  const hanging = await agentWithRetries()
  const healthy = await agentWithEvents('healthy', ABREAST)
  const isHanging = ({ url }: Post) => url.includes('failed')
  onPost = (post) => {
    if (!isHanging(post)) post.answer(200)
  }
  const carrying = carry(hanging)
  await started(1)
  await carry(healthy)
  const ended = await ctx.db
    .selectFrom('deliveries')
    .select('status')
    .where('agent_id', '=', healthy)
    .execute()
  expect(ended.map(({ status }) => status)).toEqual(Array(ABREAST).fill('delivered'))
  await started(2 * ABREAST)
  for (const post of posts.filter(isHanging)) post.answer(500)
  await carrying
})
