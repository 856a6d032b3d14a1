import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { expectWithin, testTimeout } from '../support/measured.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'

let parts: Parts
let api: ServerProcess
let apiKey: string
beforeAll(async () => {
  parts = await startParts()
  api = await startApi(parts.environment)
  const registered = await register()
  apiKey = registered.body.data.api_key
})
afterAll(async () => {
  await api.stop()
  await parts.stop()
})

const register = (key?: string) =>
  client(api.url).post(
    '/api/agents/register',
    { name: someName(), description: DESCRIPTION },
    key === undefined ? {} : { key },
  )
const readMe = () => client(api.url).get('/api/agents/me', { bearer: apiKey })
const browse = () => client(api.url).get('/api/agents?search=typescript')
const change = () =>
  client(api.url).patch(
    '/api/agents/me',
    { description: 'Changed while the database was away.' },
    { bearer: apiKey },
  )

const ASKS = [register, readMe, browse, change, () => register(randomUUID())]

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const at = performance.now()
  const result = await work
  return { result, ms: performance.now() - at }
}

/** Fills the pool, so that a fault meets connections in every state. */
const warmUp = () => Promise.all(Array.from({ length: 20 }, readMe))

const healed = () =>
  until('requests are answered again', async () => (await readMe()).status === 200, {
    withinMs: testTimeout(3_000),
  })

test('Postgres does not respond: every request returns 503 within 6 s, and 3 s after it responds again requests succeed', async () => {
  await warmUp()
  parts.postgres.set({ blackhole: true })
  const asked = Array.from({ length: 30 }, (_, at) => timed((ASKS[at % ASKS.length] ?? readMe)()))
  const alive = await timed(fetch(`${api.url}/healthz`))
  expect(alive.result.status).toBe(200)
  expectWithin(alive.ms, 500)
  // Readiness is remembered for a second.
  const ready = await timed(
    until('it is not ready', async () => (await fetch(`${api.url}/readyz`)).status === 503, {
      withinMs: testTimeout(3_000),
    }),
  )
  expectWithin(ready.ms, 2_500)

  for (const { result, ms } of await Promise.all(asked)) {
    expect(result.status).toBe(503)
    expect(result.body).toMatchObject({ success: false, code: 'unavailable' })
    expect(Number(result.headers.get('retry-after'))).toBeGreaterThan(0)
    expectWithin(ms, 6_000)
  }
  // Those who come later find a pool without a single good connection.
  const late = await Promise.all(ASKS.map((ask) => timed(ask())))
  for (const { result, ms } of late) {
    expect(result.status).toBe(503)
    expectWithin(ms, 6_000)
  }

  parts.postgres.set({ blackhole: false })
  await healed()
  await until('it is ready', async () => (await fetch(`${api.url}/readyz`)).status === 200, {
    withinMs: testTimeout(3_000),
  })
})

test('Postgres connections are cut: requests return 503 or their result, and the next request succeeds', async () => {
  for (let round = 0; round < 5; round++) {
    await warmUp()
    parts.postgres.set({ latencyMs: 30 })
    const asked = Array.from({ length: 20 }, (_, at) => (ASKS[at % ASKS.length] ?? readMe)())
    await wait(round * 40)
    parts.postgres.cut()
    parts.postgres.set({ latencyMs: 0 })
    for (const { status } of await Promise.all(asked)) expect([200, 201, 503]).toContain(status)
    await healed()
  }
})

test('Postgres rejects connections: requests return 503 at once', async () => {
  parts.postgres.set({ reject: true })
  parts.postgres.cut()
  const { result, ms } = await timed(readMe())
  expect(result.status).toBe(503)
  expectWithin(ms, 3_000)
  parts.postgres.set({ reject: false })
  await healed()
})
