import { afterAll, beforeAll, expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { emitMessages } from '../support/emit-messages.ts'
import { type OpenStream, openStream } from '../support/event-stream.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'

const STALLED = 5
const EVENTS = 600
const MB = 1024 * 1024

let parts: Parts
let api: ServerProcess
beforeAll(async () => {
  parts = await startParts()
  api = await startApi(parts.environment)
})
afterAll(async () => {
  await api.stop()
  await parts.stop()
})

async function register(): Promise<{ id: string; bearer: string }> {
  const fields = { name: someName(), description: DESCRIPTION }
  const { data } = (await client(api.url).post('/api/agents/register', fields)).body
  return { id: data.agent_id, bearer: data.api_key }
}

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${api.url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}

test('clients that do not read use little memory, do not delay others, and are disconnected', async () => {
  const [busy, quiet] = [await register(), await register()]
  await emitMessages(parts.db, busy.id, ...Array<string>(EVENTS).fill('x'.repeat(64 * 1024)))
  const before = await residentBytes()
  const stalled: OpenStream[] = []
  for (let n = 0; n < STALLED; n++) {
    const stream = await openStream(api.url, busy)
    stream.pause()
    stalled.push(stream)
  }
  const listener = await openStream(api.url, quiet)
  try {
    expect(stalled.map(({ status }) => status)).toEqual(Array(STALLED).fill(200))
    for (let n = 1; n <= 5; n++) {
      await emitMessages(parts.db, quiet.id, `message ${n}`)
      await listener.until(n, 1_500)
    }
    // Buffering everything would need five times 38 MB.
    expect((await residentBytes()) - before).toBeLessThan(120 * MB)
    expect((await openStream(api.url, busy)).status).toBe(429)

    const isFree = async () => {
      const stream = await openStream(api.url, busy)
      stream.close()
      return stream.status === 200
    }
    await until('the stalled clients were disconnected', isFree, { withinMs: 30_000, everyMs: 500 })
    await emitMessages(parts.db, quiet.id, 'still here')
    await listener.until(6, 1_500)
  } finally {
    for (const stream of [...stalled, listener]) stream.close()
  }
})
