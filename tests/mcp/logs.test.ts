import { digestOf } from '@market/handlers/credential'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { until } from '../support/until.ts'
import { message, post, toolCall } from './raw-messages.ts'

/** The security log, the request log and the metrics of the MCP servers. */

let market: Market
let url: string
beforeAll(async () => {
  market = await startMarket()
  url = `${market.url}/mcp`
})
afterAll(() => market.stop())

type Line = Readonly<Record<string, unknown>>

const linesOf = (client: string): Line[] =>
  market
    .logText()
    .split('\n')
    .slice(0, -1)
    .map((line): Line => JSON.parse(line))
    .filter((line) => line['client'] === client)
const eventsOf = (client: string) => linesOf(client).filter((line) => 'event' in line)

const LIST = message('tools/list')

test('security log: a rejected API key and a token that is not accepted are one event each', async () => {
  const token = await market.idp.token({ sub: 'user-1', email: 'a@example.com' })
  const key = `market_${'x'.repeat(49)}`
  for (const [bearer, credential, code] of [
    [key, 'api_key', 'bad_api_key'],
    [token, 'access_token', 'bad_token'],
  ] as const) {
    const from = someAddress()
    const reply = await post(url, LIST, { authorization: `Bearer ${bearer}`, 'x-forwarded-for': from })
    expect(reply.status).toBe(401)
    expect(eventsOf(from)).toEqual([
      expect.objectContaining({
        event: 'credential.rejected',
        outcome: 'rejected',
        operation: 'mcp',
        caller: 'unidentified',
        credential,
        credential_id: expect.stringMatching(/^[0-9a-f]{12}$/),
        code,
        request_id: reply.headers.get('x-request-id'),
      }),
    ])
    expect(market.logText()).not.toContain(bearer)
  }
})

test('security log: a missing credential is no event', async () => {
  const from = someAddress()
  expect((await post(url, LIST, { 'x-forwarded-for': from })).status).toBe(401)
  await until('the response is logged', () => linesOf(from).length > 0)
  expect(eventsOf(from)).toEqual([])
})

test('security log: a change by a tool names the client’s address and the id of the HTTP request', async () => {
  const { apiKey, id } = await makeAgent(market)
  const from = someAddress()
  const payout_address_base = privateKeyToAddress(generatePrivateKey())
  const reply = await post(url, toolCall('market_update_profile', { payout_address_base }), {
    authorization: `Bearer ${apiKey}`,
    'x-forwarded-for': from,
  })
  expect(reply.body.result.isError).not.toBe(true)
  expect(eventsOf(from)).toEqual([
    expect.objectContaining({
      event: 'agent.payout_address_changed',
      caller: `agent:${id}`,
      credential: 'api_key',
      credential_id: digestOf(apiKey),
      request_id: reply.headers.get('x-request-id'),
    }),
  ])
})

test('audit log: a change by a tool names the API key, as in REST', async () => {
  const { apiKey, id } = await makeAgent(market)
  const authorization = `Bearer ${apiKey}`
  await post(url, toolCall('market_update_profile', { name: `Tool ${id.slice(-8)}` }), { authorization })
  await market
    .client()
    .patch('/api/agents/me', { endpoint_url: null, description: 'Changed by REST.' }, { bearer: apiKey })
  const rows = await market.db
    .selectFrom('audit_log')
    .select(['act', 'credential'])
    .where('subject', '=', id)
    .where('actor', '=', `agent:${id}`)
    .execute()
  expect(rows).toEqual([{ act: 'agents.name', credential: { kind: 'api_key', id: digestOf(apiKey) } }])
})

test('an error of a tool has the id of the HTTP request', async () => {
  const { apiKey } = await makeAgent(market)
  const reply = await post(url, toolCall('market_get_order', { order_id: 'ord_1' }), {
    authorization: `Bearer ${apiKey}`,
  })
  expect(reply.body.result._meta['market/error'].request_id).toBe(reply.headers.get('x-request-id'))
})

test('metrics and the request log name the server', async () => {
  const { apiKey, id } = await makeAgent(market)
  const from = someAddress()
  await post(url, LIST, { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': from })
  await post(`${market.url}/api/x402/mcp`, LIST, { 'x-forwarded-for': from })
  await until('both requests are logged', () => linesOf(from).length === 2)
  expect(linesOf(from)).toMatchObject([
    {
      operation: 'mcp',
      caller: `agent:${id}`,
      credential: 'api_key',
      credential_id: digestOf(apiKey),
      status: 200,
    },
    { operation: 'anonymousMcp', caller: 'unidentified', status: 200 },
  ])
  const metrics = await (await fetch(`${market.url}/metrics`)).text()
  expect(metrics).toMatch(/market_requests_total\{operation="anonymousMcp",status="200"\} \d/)
})
