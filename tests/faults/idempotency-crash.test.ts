import { randomUUID } from 'node:crypto'
import { startTcpProxy } from '@market/testing/tcp-proxy'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { client, someAddress } from '../support/client.ts'
import { startDyingApi } from '../support/dying-api.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'

let parts: Parts
beforeAll(async () => {
  parts = await startParts()
})
afterAll(() => parts.stop())

async function api(overrides: Record<string, string> = {}) {
  const started = await startApi({ ...parts.environment, ...overrides })
  onTestFinished(() => started.stop())
  return started
}

/** An api whose next registration meets its COMMIT and is then killed. */
const apiThatDies = (moment: 'before' | 'after') => startDyingApi(parts.environment, moment, 'agents')

function registration() {
  const body = { name: someName(), description: DESCRIPTION, endpoint_url: 'https://93.184.216.34/in' }
  const ask = { key: randomUUID(), from: someAddress() }
  return { name: body.name, sendTo: (url: string) => client(url).post('/api/agents/register', body, ask) }
}

const agentsNamed = (name: string) =>
  parts.db.selectFrom('agents').select(['id', 'slug']).where('name', '=', name).execute()

test('api killed after the commit: the retry returns the one agent and its key', async () => {
  const { name, sendTo } = registration()
  const dying = await apiThatDies('after')
  await expect(sendTo(dying.url)).rejects.toThrow()
  expect(await dying.killed).toEqual({ code: null, signal: 'SIGKILL' })
  const [agent, ...more] = await agentsNamed(name)
  expect(more).toEqual([])

  const second = await api()
  const retry = await sendTo(second.url)
  expect(retry.status).toBe(201)
  expect(retry.headers.get('idempotent-replayed')).toBe('true')
  expect(retry.body.data).toMatchObject({ agent_id: agent?.id, slug: agent?.slug })
  const me = await client(second.url).get('/api/agents/me', { bearer: retry.body.data.api_key })
  expect(me.body.data).toMatchObject({ id: agent?.id, webhook_secret: retry.body.data.webhook_secret })
  expect(await agentsNamed(name)).toHaveLength(1)
})

test('api killed after the response was stored: every retry returns the same response', async () => {
  const { name, sendTo } = registration()
  const first = await api()
  const line = await startTcpProxy({ host: '127.0.0.1', port: first.port })
  onTestFinished(() => line.stop())
  // Late enough for the request to be through before the line goes silent, early enough to stop the answer.
  line.set({ latencyMs: 300 })
  const lost = expect(sendTo(`http://${line.address}`)).rejects.toThrow()
  await until('the effect is there', async () => (await agentsNamed(name)).length === 1, { everyMs: 5 })
  line.set({ blackhole: true })
  await until('the api answered', () => /"operation":"registerAgent"[^\n]*"status":201/.test(first.output()))
  first.kill('SIGKILL')
  await first.exited
  line.cut()
  await lost

  const second = await api()
  const [one, two] = [await sendTo(second.url), await sendTo(second.url)]
  expect([one.status, two.status]).toEqual([201, 201])
  expect(two.body).toEqual(one.body)
  const [agent, ...more] = await agentsNamed(name)
  expect(more).toEqual([])
  expect(one.body.data.agent_id).toBe(agent?.id)
})

test('api killed before the commit: the retry after the lease creates the agent once', async () => {
  const { name, sendTo } = registration()
  const dying = await apiThatDies('before')
  await expect(sendTo(dying.url)).rejects.toThrow()
  await dying.killed
  expect(await agentsNamed(name)).toEqual([])

  const second = await api()
  // For all the second process knows, the first may still be at work.
  const early = await sendTo(second.url)
  expect([early.status, early.body.code]).toEqual([409, 'request_in_progress'])
  expect(early.headers.get('retry-after')).toBe('1')

  await parts.setClockAhead(21_000)
  const retry = await sendTo(second.url)
  expect([retry.status, retry.headers.get('idempotent-replayed')]).toEqual([201, null])
  const again = await sendTo(second.url)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body).toEqual(retry.body)
  expect(await agentsNamed(name)).toHaveLength(1)
})
