import { once } from 'node:events'
import { connect } from 'node:net'
import { digestOf } from '@market/handlers/credential'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken, turn } from '../support/operator.ts'
import { ADMIN_KEY, ADMIN_USER, APP_URL } from '../support/settings.ts'
import { until } from '../support/until.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const metrics = async () => (await fetch(`${market.url}/metrics`)).text()

/** Requests in flight, without the one that reads the metrics. */
const inFlight = async () => Number(/^market_requests_in_flight (-?\d+)$/m.exec(await metrics())?.[1]) - 1

const linesOf = (operation: string) =>
  market
    .logText()
    .split('\n')
    .filter((line) => line.includes(`"operation":"${operation}"`))

async function openAndDisconnect(apiKey: string) {
  const { hostname, port } = new URL(market.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(`GET /api/events/stream HTTP/1.1\r\nHost: market\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`)
  await once(socket, 'data')
  socket.destroy()
}

test('request log: a stream that the client closes is logged, counted and no longer in flight', async () => {
  const { apiKey } = await makeAgent(market)
  for (let n = 0; n < 3; n++) await openAndDisconnect(apiKey)
  await until('three lines in the log', () => linesOf('streamEvents').length === 3)
  expect(await inFlight()).toBe(0)
  expect(await metrics()).toContain('market_requests_total{operation="streamEvents",status="200"} 3')
})

test('request log: a preflight is logged, and the in-flight gauge returns to zero', async () => {
  const before = linesOf('other').length
  const headers = { origin: APP_URL, 'access-control-request-method': 'POST' }
  const response = await fetch(`${market.url}/api/agents/register`, { method: 'OPTIONS', headers })
  expect(response.status).toBe(204)
  const isLogged = () => linesOf('other').slice(before).join().includes('"method":"OPTIONS"')
  await until('a line in the log', isLogged)
  expect(await inFlight()).toBe(0)
})

interface LogLine {
  readonly event?: string
  readonly caller?: string
  readonly credential?: string
  readonly credential_id?: string
  readonly msg?: string
  readonly client?: string
  readonly status?: number
}

const parsed = (): LogLine[] =>
  market
    .logText()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

test('request log: a line names the caller and the client address', async () => {
  const agent = await makeAgent(market)
  const client = market.client()
  await client.get('/api/agents/me', { bearer: agent.apiKey, from: '203.0.113.9' })
  await client.get('/api/agents/me', { from: '203.0.113.9' })
  const found = () =>
    parsed().filter(({ client, status }) => client === '203.0.113.9' && status !== undefined)
  await until('two lines', () => found().length === 2)
  expect(found().map(({ caller, status }) => [caller, status])).toEqual([
    [`agent:${agent.id}`, 200],
    ['anonymous', 401],
  ])
})

test('request log: a line names the credential of an API key, an operator’s key, a token and a signature', async () => {
  const { apiKey } = await makeAgent(market)
  const { token } = await makeUser(market)
  const wallet = evmSigner()
  const from = '203.0.113.12'
  const client = market.client()
  await client.get('/api/agents/me', { bearer: apiKey, from })
  await client.get('/api/admin/switches', { bearer: ADMIN_KEY, from })
  await client.get('/api/profile', { bearer: token, from })
  await client.get('/api/orders', { headers: await signOnce(market, wallet, 'session'), from })
  const found = () => parsed().filter(({ client, status }) => client === from && status !== undefined)
  await until('four lines', () => found().length === 4)
  expect(found().map(({ credential, credential_id, status }) => [credential, credential_id, status])).toEqual(
    [
      ['api_key', digestOf(apiKey), 200],
      ['operator_key', digestOf(ADMIN_KEY), 200],
      ['access_token', digestOf(token), 200],
      ['wallet_signature', wallet.address.toLowerCase(), 200],
    ],
  )
})

test('security log: a rejected credential and a changed switch are one line each, without the credential', async () => {
  const bearer = await operatorToken(market)
  await market.client().get('/api/agents/me', { bearer: 'market_guessed', from: '203.0.113.10' })
  await turn(market, 'freeze_intake', false)
  const events = () => parsed().filter(({ event }) => event !== undefined)
  await until('both events', () => events().some(({ event }) => event === 'switch.changed'))
  expect(events()).toContainEqual(
    expect.objectContaining({
      event: 'credential.rejected',
      code: 'bad_api_key',
      client: '203.0.113.10',
      credential: 'api_key',
      credential_id: expect.stringMatching(/^[0-9a-f]{12}$/),
    }),
  )
  expect(events()).toContainEqual(
    expect.objectContaining({
      event: 'switch.changed',
      caller: `user:${ADMIN_USER}`,
      subject: 'freeze_intake',
      details: { on: false, reason: 'A test turns it' },
    }),
  )
  expect(market.logText()).not.toContain('market_guessed')
  expect(market.logText()).not.toContain(bearer)
})

test('log: forwarding headers of a peer that TRUSTED_PROXIES does not name are one warning', async () => {
  const alone = await startMarket({ TRUSTED_PROXIES: '' })
  onTestFinished(alone.stop)
  const warnings = (of: Market) =>
    of
      .logText()
      .split('\n')
      .filter((line) => line.includes('TRUSTED_PROXIES'))
  await fetch(`${alone.url}/healthz`)
  expect(warnings(alone)).toEqual([])
  for (const headers of [{ 'x-forwarded-for': '203.0.113.9' }, { forwarded: 'for=203.0.113.9' }])
    for (let n = 0; n < 2; n++) await fetch(`${alone.url}/healthz`, { headers })
  expect(warnings(alone)).toHaveLength(1)
  expect(JSON.parse(warnings(alone)[0] ?? '')).toMatchObject({ level: 'warn', peer: '127.0.0.1' })
  // The proxy of this market is trusted.
  await market.client().get('/api/platform-stats', { from: '203.0.113.13' })
  expect(warnings(market)).toEqual([])
})
