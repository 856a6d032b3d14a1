import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { type Endpoint, isSignedBy, startEndpoint } from '../support/endpoint.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { expectWithin } from '../support/measured.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY, PUBLIC_ADDRESS } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

const PATH = '/api/agents/me/deliveries/test'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let endpoint: Endpoint
let market: Market
beforeAll(async () => {
  endpoint = await startEndpoint()
  market = await startMarket(endpoint.settings)
})
afterAll(async () => {
  await market.stop()
  await endpoint.stop()
})

/** As it is unless a test says otherwise. */
beforeEach(() => {
  endpoint.answers((response) => void response.end('ok'))
  market.dns.answers.set('hooks.example', [PUBLIC_ADDRESS])
  endpoint.received.length = 0
})

let made = 0
/** Each has a path of its own, because agents with the same one share the attempts of an unproven endpoint. */
const makeReachable = (host = 'hooks.example') => {
  made += 1
  return makeAgent(market, { endpoint_url: `https://${host}/in/${made}?x=1` })
}

commonWriteErrors({
  market: () => market,
  operation: operations.testDelivery,
  good: async () => ({ path: PATH, ask: { bearer: (await makeReachable()).apiKey } }),
  other: (call) => ({ ...call, method: 'PATCH', path: '/api/agents/me', body: { avatar_url: null } }),
})

const sendTest = (bearer: string) => market.client().post(PATH, undefined, { bearer })
const logOf = async (bearer: string) =>
  (await market.client().get('/api/agents/me/deliveries', { bearer })).body.data

const deliveryOf = (fields: Record<string, unknown>) => ({
  delivery_id: expect.stringMatching(UUID),
  cursor: null,
  event: 'webhook.test',
  order_id: '',
  attempts: 1,
  next_attempt_at: null,
  created_at: expect.stringMatching(INSTANT),
  ended_at: expect.stringMatching(INSTANT),
  ...fields,
})

const FINE = { status: 'delivered', response_status: 200, failure: null }

test('200: sends one signed webhook.test, and returns and logs the response', async () => {
  const { id, apiKey } = await makeReachable()
  const secret = (await market.client().get('/api/agents/me', { bearer: apiKey })).body.data.webhook_secret
  const { status, body } = await sendTest(apiKey)
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: { delivery: deliveryOf(FINE), took_ms: expect.any(Number), response_body: 'ok' },
  })
  expect(body.data.took_ms).toBeGreaterThanOrEqual(0)
  expect(endpoint.received).toHaveLength(1)
  const [got = expect.fail('nothing came')] = endpoint.received
  expect(got.path).toMatch(/^\/in\/\d+\?x=1$/)
  expect(JSON.parse(got.body)).toEqual({
    event: 'webhook.test',
    order_id: '',
    data: { message: expect.stringMatching(/\S/) },
  })
  expect(got.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'AgentMarket-Webhooks/1.0',
    'x-market-event': 'webhook.test',
    'x-market-agent-id': id,
    'x-market-delivery-id': body.data.delivery.delivery_id,
  })
  expect(isSignedBy(secret, got)).toBe(true)
  expect(isSignedBy(`${secret}x`, got)).toBe(false)
  expect(await logOf(apiKey)).toEqual([body.data.delivery])
})

test('200: a test is not an event, gets no number and enqueues no job', async () => {
  const { id, apiKey } = await makeReachable()
  await sendTest(apiKey)
  const events = await market.client().get('/api/events', { bearer: apiKey })
  expect(events.body.data).toEqual([])
  const counter = await market.db
    .selectFrom('event_counters')
    .where('agent_id', '=', id)
    .selectAll()
    .execute()
  expect(counter).toEqual([])
})

test('200: a response other than 2xx is reported as failed and not retried', async () => {
  const { apiKey } = await makeReachable()
  for (const code of [500, 404, 302, 999]) {
    endpoint.answers(
      (response) => void response.writeHead(code, { location: 'https://other.example/' }).end('no'),
    )
    const { status, body } = await sendTest(apiKey)
    expect(status).toBe(200)
    const failed = {
      status: 'dropped',
      response_status: code,
      failure: `The endpoint responded with status ${code}`,
    }
    expect(body.data).toMatchObject({ delivery: failed, response_body: 'no' })
    expect((await logOf(apiKey))[0]).toEqual(deliveryOf(failed))
  }
  expect(endpoint.received).toHaveLength(4)
})

test('200: an endpoint that does not respond times out after 5 seconds', async () => {
  const { apiKey } = await makeReachable()
  endpoint.answers(() => {})
  const at = performance.now()
  const { status, body } = await sendTest(apiKey)
  expectWithin(performance.now() - at, 6_500)
  expect(status).toBe(200)
  const failure = 'The endpoint did not respond within 5 seconds'
  expect(body.data.delivery).toEqual(deliveryOf({ status: 'dropped', response_status: null, failure }))
  expect(body.data.response_body).toBeNull()
  expect(body.data.took_ms).toBeGreaterThanOrEqual(4_900)
  expectWithin(body.data.took_ms, 6_500)
})

test('200: sends nothing to a server with a certificate of another host', async () => {
  const { apiKey } = await makeReachable('other.example')
  const before = endpoint.connections()
  const { body } = await sendTest(apiKey)
  const failure = 'The TLS certificate of the endpoint is not valid'
  expect(body.data.delivery).toEqual(deliveryOf({ status: 'dropped', response_status: null, failure }))
  expect(endpoint.connections()).toBe(before + 1)
  expect(endpoint.received).toEqual([])
})

test('200: no connection to a name that now resolves to a private address or not at all', async () => {
  const { apiKey } = await makeReachable()
  const before = endpoint.connections()
  for (const [answer, failure] of [
    [['10.0.0.7'], 'The endpoint resolves to an address that is not public'],
    [[PUBLIC_ADDRESS, '127.0.0.1'], 'The endpoint resolves to an address that is not public'],
    [['::ffff:169.254.169.254'], 'The endpoint resolves to an address that is not public'],
    [[], 'The host name of the endpoint could not be resolved'],
  ] as const) {
    market.dns.answers.set('hooks.example', answer)
    const { status, body } = await sendTest(apiKey)
    expect(status).toBe(200)
    expect(body.data.delivery).toEqual(deliveryOf({ status: 'dropped', response_status: null, failure }))
  }
  expect(endpoint.connections()).toBe(before)
})

test('200: a closed connection and a response that is not HTTP are failures', async () => {
  const { apiKey } = await makeReachable()
  for (const rude of ['', 'SSH-2.0-OpenSSH_9.9\r\n', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n']) {
    endpoint.answers((response) => void response.socket?.end(rude))
    const { status, body } = await sendTest(apiKey)
    expect(status).toBe(200)
    expect(body.data.delivery).toMatchObject({ status: 'dropped', attempts: 1, response_status: null })
    expect(body.data.delivery.failure).toBe('The endpoint closed the connection without a response')
  }
})

test('200: returns the start of a long response, without control characters', async () => {
  const { apiKey } = await makeReachable()
  endpoint.answers((response) => void response.end(`${'x'.repeat(999)}🚀${'y'.repeat(500_000)}`))
  const long = (await sendTest(apiKey)).body.data
  expect(long.delivery).toMatchObject(FINE)
  expect(long.response_body).toBe(`${'x'.repeat(999)}\ufffd`)
  endpoint.answers((response) => void response.end(Buffer.from('a\u0000b\u202ec\td\ne\xff', 'latin1')))
  const odd = (await sendTest(apiKey)).body.data.response_body
  expect(odd).toMatch(/^a\ufffdb.c\td\ne\ufffd$/u)
})

test('200: neither the API key nor the secret is in the response or in the log', async () => {
  const { apiKey } = await makeReachable()
  const secret = (await market.client().get('/api/agents/me', { bearer: apiKey })).body.data.webhook_secret
  const { body } = await sendTest(apiKey)
  for (const text of [market.logText(), JSON.stringify(body)]) {
    expect(text).not.toContain(apiKey)
    expect(text).not.toContain(secret)
  }
  for (const { headers } of endpoint.received) {
    expect(market.logText()).not.toContain(String(headers['x-market-signature']))
  }
})

test('200: the owner tests the endpoint, each signature once', async () => {
  const owner = evmSigner()
  made += 1
  const { id } = await makeOwnedAgent(market, { endpoint_url: `https://hooks.example/in/${made}` }, owner)
  const path = PATH.replace('me', id)
  const { token } = await makeUser(market, { wallets: [owner.address] })
  const headers = asHeaders(await signed(owner, `agents.test-webhook:${id}`))
  for (const ask of [{ bearer: token }, { headers }]) {
    const { status, body } = await market.client().post(path, {}, ask)
    expect([status, body.data.delivery.status]).toEqual([200, 'delivered'])
  }
  expect(endpoint.received).toHaveLength(2)
  rejected(await market.client().post(path, {}, { headers }), 401, 'signature_used')
})

test('400: me without an API key', async () => {
  const { token } = await makeUser(market)
  invalid(await market.client().post(PATH, {}, { bearer: token }), 'agent_id')
})

test('403: another user, wallet and agent, and an operator', async () => {
  const { id } = await makeOwnedAgent(market)
  const path = PATH.replace('me', id)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey])
    rejected(await market.client().post(path, {}, { bearer }), 403, 'not_your_agent')
  const headers = asHeaders(await signed(evmSigner(), `agents.test-webhook:${id}`))
  rejected(await market.client().post(path, {}, { headers }), 403, 'not_your_agent')
  rejected(await market.client().post(path, {}, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: no such agent', async () => {
  const { token } = await makeUser(market)
  const path = PATH.replace('me', 'agt_1700000000000_00000000000000000')
  rejected(await market.client().post(path, {}, { bearer: token }), 404, 'agent_not_found')
})

test('429: above 10 attempts an hour while the endpoint never responded with 2xx, until it does', async () => {
  const { apiKey } = await makeReachable()
  const fails = (response: { writeHead(status: number): { end(): unknown } }) =>
    void response.writeHead(500).end()
  endpoint.answers(fails)
  for (let n = 0; n < 10; n++) expect((await sendTest(apiKey)).status).toBe(200)
  const above = await sendTest(apiKey)
  rejected(above, 429, 'endpoint_unproven')
  expect(Number(above.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(endpoint.received).toHaveLength(10)

  const other = (await makeReachable()).apiKey
  endpoint.answers((response) => void response.end('ok'))
  expect((await sendTest(other)).status).toBe(200)
  endpoint.answers(fails)
  for (let n = 0; n < 12; n++) expect((await sendTest(other)).body.data.delivery.status).toBe('dropped')
})

test('409: an agent without an endpoint, and one that removed it', async () => {
  const { apiKey } = await makeAgent(market)
  rejected(await sendTest(apiKey), 409, 'no_endpoint')
  const gone = await makeReachable()
  await market.client().patch('/api/agents/me', { endpoint_url: null }, { bearer: gone.apiKey })
  rejected(await sendTest(gone.apiKey), 409, 'no_endpoint')
  expect(endpoint.received).toEqual([])
  expect(await logOf(gone.apiKey)).toEqual([])
})
