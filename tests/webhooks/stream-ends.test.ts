import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { client } from '../support/client.ts'
import { emitMessages } from '../support/emit-messages.ts'
import { type OpenStream, openStream } from '../support/event-stream.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { expectWithin } from '../support/measured.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'

const DRAIN_MS = 200

let parts: Parts
beforeAll(async () => {
  parts = await startParts({ DRAIN_MS: String(DRAIN_MS) })
})
afterAll(() => parts.stop())

async function start() {
  const api = await startApi(parts.environment)
  onTestFinished(() => api.stop())
  return api
}

async function register(url: string): Promise<{ id: string; bearer: string }> {
  const fields = { name: someName(), description: DESCRIPTION }
  const { data } = (await client(url).post('/api/agents/register', fields)).body
  return { id: data.agent_id, bearer: data.api_key }
}

const lastOf = (stream: OpenStream): string => stream.frames.at(-1)?.id ?? '0'

test('SIGTERM: the API ends its streams and exits in time; clients continue on another process without a gap', async () => {
  const old = await start()
  const agents = await Promise.all(Array.from({ length: 4 }, () => register(old.url)))
  const streams = await Promise.all(agents.map((agent) => openStream(old.url, agent)))
  onTestFinished(() => streams.forEach((stream) => void stream.close()))
  for (const { id } of agents) await emitMessages(parts.db, id, 'before')
  for (const stream of streams) await stream.until(1)

  let isWriting = true
  const writing = Promise.all(
    agents.map(async ({ id }) => {
      let count = 1
      for (; isWriting; count++) await emitMessages(parts.db, id, `message ${count}`)
      return count
    }),
  )
  const at = performance.now()
  old.kill('SIGTERM')
  await Promise.all(streams.map((stream) => stream.ended))
  expect(await old.exited).toEqual({ code: 0, signal: null })
  expectWithin(performance.now() - at, DRAIN_MS + 3_000)

  const next = await start()
  const resumed = await Promise.all(
    agents.map(({ bearer }, n) => {
      const seen = streams[n]
      return openStream(next.url, { bearer, lastEventId: seen === undefined ? '0' : lastOf(seen) })
    }),
  )
  onTestFinished(() => resumed.forEach((stream) => void stream.close()))
  isWriting = false
  const counts = await writing
  for (const [n, count] of counts.entries()) {
    const before = streams[n]?.frames ?? []
    const after = (await resumed[n]?.until(count - before.length, 10_000)) ?? []
    const all = [...before, ...after].map(({ id }) => id)
    expect(all).toEqual(Array.from({ length: count }, (_, seq) => String(seq + 1)))
  }
})

test('SIGTERM: a client that does not read does not delay the exit', async () => {
  const api = await start()
  const agent = await register(api.url)
  await emitMessages(parts.db, agent.id, ...Array<string>(200).fill('x'.repeat(64 * 1024)))
  const stream = await openStream(api.url, agent)
  onTestFinished(() => stream.close())
  stream.pause()
  const at = performance.now()
  api.kill('SIGTERM')
  expect(await api.exited).toEqual({ code: 0, signal: null })
  expectWithin(performance.now() - at, DRAIN_MS + 5_000)
})
