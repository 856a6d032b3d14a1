import { type OwnRedis, startRedis } from '@market/testing/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { client, type Reply, someAddress } from '../support/client.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { expectWithin, testTimeout } from '../support/measured.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'

const HOUR_SECONDS = 3_600

let redis: OwnRedis
let parts: Parts
let one: ServerProcess
let two: ServerProcess
beforeAll(async () => {
  redis = await startRedis()
  parts = await startParts({ REDIS_URL: redis.url })
  one = await startApi(parts.environment)
  two = await startApi(parts.environment)
})
afterAll(async () => {
  await Promise.all([one, two].map((api) => api?.stop()))
  await parts.stop()
  await redis.stop()
})

const register = (api: ServerProcess, from: string): Promise<Reply> =>
  client(api.url).post('/api/agents/register', { name: someName(), description: DESCRIPTION }, { from })

const browse = (api: ServerProcess, from: string): Promise<Reply> => client(api.url).get('/api/me', { from })

async function inTurn(apis: readonly ServerProcess[], from: string): Promise<Reply[]> {
  const replies: Reply[] = []
  for (const api of apis) replies.push(await register(api, from))
  return replies
}

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status)
const header = (reply: Reply | undefined, name: string) => Number(reply?.headers.get(name) ?? Number.NaN)
const nowSeconds = () => Date.now() / 1_000

test('register: the sixth request of an address returns 429 with Retry-After from either process', async () => {
  const from = someAddress()
  const resets = nowSeconds() + HOUR_SECONDS
  const replies = await inTurn([one, two, one, two, one, two, one], from)
  expect(statuses(replies)).toEqual([201, 201, 201, 201, 201, 429, 429])
  expect(replies.map((reply) => header(reply, 'x-ratelimit-remaining'))).toEqual([4, 3, 2, 1, 0, 0, 0])
  for (const reply of replies) {
    expect(header(reply, 'x-ratelimit-limit')).toBe(5)
    expect(header(reply, 'x-ratelimit-reset')).toBeGreaterThanOrEqual(resets - 1.5)
    expectWithin(header(reply, 'x-ratelimit-reset') - resets, 1.5)
  }
  for (const reply of replies.slice(5)) {
    expect(reply.body).toMatchObject({ success: false, code: 'rate_limited' })
    const left = header(reply, 'x-ratelimit-reset') - nowSeconds()
    expect(header(reply, 'retry-after')).toBeGreaterThanOrEqual(left - 1)
    expectWithin(header(reply, 'retry-after') - left, 1)
  }
})

test('register: of 50 concurrent requests to two processes exactly five succeed', async () => {
  const from = someAddress()
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, at) => register(at % 2 === 0 ? one : two, from)),
  )
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(5)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(45)
})

test('an exhausted limit does not affect other rules and other addresses', async () => {
  const from = someAddress()
  await inTurn([one, one, one, one, one, one], from)
  const read = await browse(two, from)
  expect([read.status, header(read, 'x-ratelimit-limit'), header(read, 'x-ratelimit-remaining')]).toEqual([
    200, 600, 599,
  ])
  const recover = await client(one.url).post('/api/agents/recover', {}, { from })
  expect([recover.status, header(recover, 'x-ratelimit-remaining')]).toEqual([401, 9])
  expect((await register(two, someAddress())).status).toBe(201)
})

test('X-Forwarded-For is ignored without a trusted proxy', async () => {
  const bare = await startApi({ ...parts.environment, TRUSTED_PROXIES: '' })
  try {
    const replies: Reply[] = []
    for (let at = 0; at < 6; at++) replies.push(await register(bare, someAddress()))
    expect(statuses(replies)).toEqual([201, 201, 201, 201, 201, 429])
  } finally {
    await bare.stop()
  }
})

test('Redis is down: limits count per process; after it is back they are shared again', async () => {
  const known = someAddress()
  await inTurn([one, one, one, one, one], known)
  await redis.kill()

  // What Redis had counted here is not forgotten: its end must not hand out new budgets.
  expect((await register(one, known)).status).toBe(429)
  const from = someAddress()
  expect(statuses(await inTurn([one, one, one, one, one, one], from))).toEqual([201, 201, 201, 201, 201, 429])
  expect(statuses(await inTurn([two, two, two, two, two, two], from))).toEqual([201, 201, 201, 201, 201, 429])
  const away = await browse(one, from)
  expect([away.status, header(away, 'x-ratelimit-remaining')]).toEqual([200, 599])
  expect((await fetch(`${one.url}/readyz`)).status).toBe(200)
  expect(await (await fetch(`${one.url}/metrics`)).text()).toMatch(/market_limiter_fallbacks_total [1-9]/)

  await redis.restart()
  await until(
    'both processes count together again',
    async () => {
      const fresh = someAddress()
      await browse(one, fresh)
      return header(await browse(two, fresh), 'x-ratelimit-remaining') === 598
    },
    { withinMs: testTimeout(5_000) },
  )
  expect(statuses(await inTurn([one, two, one, two, one, two], someAddress()))).toEqual([
    201, 201, 201, 201, 201, 429,
  ])
})

test('Redis does not respond: a request takes less than half a second longer', async () => {
  const from = someAddress()
  redis.pause()
  try {
    const at = performance.now()
    expect((await register(one, from)).status).toBe(201)
    expectWithin(performance.now() - at, 500)
    expect(statuses(await inTurn([one, one, one, one, one], from))).toEqual([201, 201, 201, 201, 429])
  } finally {
    redis.resume()
  }
})
