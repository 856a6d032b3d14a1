import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startBalancer } from '../support/balancer.ts'
import { client } from '../support/client.ts'
import { startKeepAliveLoad } from '../support/keep-alive-load.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'

/** Of each kind; the long form is ROLLS=25. */
const ROLLS = Number(process.env['ROLLS'] ?? 4)
const REQUESTS = ROLLS * 800
const CLIENTS = 16
const LONG = 10 * 60_000

let parts: Parts
beforeAll(async () => {
  parts = await startParts({ DRAIN_MS: '500' })
})
afterAll(() => parts.stop())

async function start(port = 0): Promise<ServerProcess> {
  const api = await startApi(parts.environment, { port })
  onTestFinished(() => api.stop())
  return api
}

async function registerAt(api: ServerProcess): Promise<string> {
  const reply = await client(api.url).post('/api/agents/register', {
    name: someName(),
    description: DESCRIPTION,
  })
  return reply.body.data.api_key
}

async function endsWell(api: ServerProcess): Promise<void> {
  api.kill('SIGTERM')
  expect(await api.exited).toEqual({ code: 0, signal: null })
}

test(`behind a load balancer, ${ROLLS} rolling restarts under load lose no request`, {
  timeout: LONG,
}, async () => {
  const balancer = await startBalancer()
  onTestFinished(() => balancer.stop())
  let current = await start()
  await balancer.add(current.url)
  const bearer = await registerAt(current)
  const load = startKeepAliveLoad({ port: balancer.port, bearer, clients: CLIENTS, repeatsReads: false })
  for (let roll = 0; roll < ROLLS; roll++) {
    const next = await start()
    await balancer.add(next.url)
    await endsWell(current)
    balancer.remove(current.url)
    current = next
  }
  await load.finish(REQUESTS)
  expect(load.errors).toEqual([])
  expect(load.answered()).toBeGreaterThanOrEqual(REQUESTS)
})

/**
 * Two processes on one port: Linux resets what waits to be accepted by the one that closes, unless the host sets
 * net.ipv4.tcp_migrate_req. A read that was reset before any answer is asked again, as every HTTP client may.
 */
test(`on one shared port, ${ROLLS} rolling restarts under load fail no client`, {
  timeout: LONG,
}, async () => {
  let current = await start()
  const bearer = await registerAt(current)
  const load = startKeepAliveLoad({ port: current.port, bearer, clients: CLIENTS, repeatsReads: true })
  for (let roll = 0; roll < ROLLS; roll++) {
    const next = await start(current.port)
    await endsWell(current)
    current = next
  }
  await load.finish(REQUESTS)
  expect(load.errors).toEqual([])
  expect(load.answered()).toBeGreaterThanOrEqual(REQUESTS)
  expect(load.repeated()).toBeLessThanOrEqual(ROLLS * 2)
})
