import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { client } from '../support/client.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { expectWithin } from '../support/measured.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'

let parts: Parts
beforeAll(async () => {
  parts = await startParts({ DRAIN_MS: '200' })
})
afterAll(() => parts.stop())

/** An api with one request that waits for a table we hold; `letGo` lets it finish. */
async function apiWithRequestInFlight() {
  const api = await startApi(parts.environment)
  onTestFinished(() => api.stop())
  const registered = await client(api.url).post('/api/agents/register', {
    name: someName(),
    description: DESCRIPTION,
  })
  const holder = new pg.Client({ connectionString: parts.database.url })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  await holder.query('lock table agents in access exclusive mode')
  const answer = client(api.url).get('/api/agents/me', { bearer: registered.body.data.api_key })
  // A test that expects the process to die awaits this later than it fails.
  answer.catch(() => {})
  await until('the request waits for the table', async () => {
    const { rows } = await holder.query(
      'select 1 from pg_locks where not granted and relation = $1::regclass',
      ['agents'],
    )
    return rows.length === 1
  })
  return { api, answer, letGo: () => holder.query('rollback') }
}

/** Long for a process to end in, and short beside a machine that stands still for a second. */
const AT_ONCE_MS = 5_000

const isRejected = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })

test('SIGTERM: rejects new connections, finishes running requests and exits with 0', async () => {
  const { api, answer, letGo } = await apiWithRequestInFlight()
  api.kill('SIGTERM')
  await until('it says that it is draining', () => api.output().includes('"msg":"stopping"'))
  const ready = await fetch(`${api.url}/readyz`)
  expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close'])
  expect(await ready.json()).toEqual({ status: 'draining' })
  await until('new connections are rejected', () => isRejected(api.port))

  await letGo()
  const reply = await answer
  expect(reply.status).toBe(200)
  expect(reply.headers.get('connection')).toBe('close')
  expect(await api.exited).toEqual({ code: 0, signal: null })
})

test('a second signal: exits at once with requests in flight', async () => {
  const { api, answer, letGo } = await apiWithRequestInFlight()
  api.kill('SIGTERM')
  await until('it heard the first', () => api.output().includes('"msg":"stopping"'))
  const at = performance.now()
  api.kill('SIGTERM')
  expect(await api.exited).toEqual({ code: 1, signal: null })
  // The request waits for as long as we hold the table: an end that waited for it would never come.
  expectWithin(performance.now() - at, AT_ONCE_MS)
  await expect(answer).rejects.toThrow()
  await letGo()
})

test('a missing setting: exits before it listens and names the setting', async () => {
  const { ['AUDIT_KEYS']: _leftOut, ...incomplete } = parts.environment
  await expect(startApi(incomplete)).rejects.toThrow(/AUDIT_KEYS/)
})
