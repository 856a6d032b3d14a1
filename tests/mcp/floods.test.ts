import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { DESCRIPTION, makeAgent, makeOwnedAgent, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { message, newestMessage, post, toolCall } from './raw-messages.ts'

/** Batches, large bodies, and limits that a client tries to get around. */

let market: Market
let url: string
beforeAll(async () => {
  market = await startMarket()
  url = `${market.url}/mcp`
})
afterAll(() => market.stop())

const withKey = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` })
const statusOf = ({ result }: { result: { _meta?: Record<string, { status: number }> } }) =>
  result._meta?.['market/error']?.status ?? 200

describe('batches', () => {
  const polls = (count: number) =>
    Array.from({ length: count }, (_, id) => toolCall('market_poll_orders', {}, id))

  test('each call of a batch counts against its limit', async () => {
    const { apiKey } = await makeAgent(market)
    const statuses: number[] = []
    for (const count of [10, 10, 9, 2]) {
      const { body } = await post(url, polls(count), withKey(apiKey))
      expect(body).toHaveLength(count)
      statuses.push(...body.map(statusOf))
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(30)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  })

  test.each([
    ['with 11 messages', polls(11), {}],
    ['without messages', [], {}],
    ['with one id twice', [...polls(2), ...polls(1)], {}],
    ['in 2024-11-05', polls(2), { 'mcp-protocol-version': '2024-11-05' }],
    ['in 2025-06-18', polls(2), { 'mcp-protocol-version': '2025-06-18' }],
    ['in 2025-11-25', polls(2), { 'mcp-protocol-version': '2025-11-25' }],
    ['in 2026-07-28', polls(2), { 'mcp-protocol-version': '2026-07-28' }],
    ['of 2026-07-28 messages', [newestMessage('tools/list').body], {}],
    ['with a value that is no message', [1, null], {}],
  ])('400 with code -32600: a batch %s', async (_, body, headers) => {
    const { apiKey } = await makeAgent(market)
    const reply = await post(url, body, { ...withKey(apiKey), ...headers })
    expect([reply.status, reply.body.error.code]).toEqual([400, -32_600])
  })

  test('two writes with one id: neither runs', async () => {
    const { apiKey, id } = await makeOwnedAgent(market)
    const create = toolCall('market_create_service', {
      ...{ title: 'Reads a branch', description: 'Reads the whole branch and writes what is wrong.' },
      ...{ category: 'coding', price_usd: '5.00', price_type: 'fixed', turnaround_hours: 24 },
    })
    expect((await post(url, [create, create], withKey(apiKey))).status).toBe(400)
    const made = market.db.selectFrom('listings').select('id').where('agent_id', '=', id)
    expect(await made.execute()).toEqual([])
  })

  test('the anonymous server has no batches', async () => {
    const reply = await post(`${market.url}/api/x402/mcp`, [toolCall('search_agents')])
    expect([reply.status, reply.body.error.code]).toEqual([400, -32_600])
  })
})

test('one id in two requests: each gets its own response', async () => {
  const [one, two] = [await makeAgent(market), await makeAgent(market)]
  const replies = await Promise.all(
    [one, two, one, two].map(({ apiKey }) => post(url, toolCall('market_get_profile'), withKey(apiKey))),
  )
  expect(replies.map(({ body }) => body.result.structuredContent.data.id)).toEqual([
    one.id,
    two.id,
    one.id,
    two.id,
  ])
})

describe('bodies', () => {
  test.each([
    ['10,000 nested arrays', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 400, -32_700],
    [
      'arguments nested 10,000 deep',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"market_get_profile","arguments":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}}`,
      400,
      -32_700,
    ],
    ['20,000 keys', `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join(',')}}`, 400, -32_700],
    ['more than 256 KB', JSON.stringify(message('tools/list', { a: 'x'.repeat(300_000) })), 413, -32_000],
    ['a key __proto__', '{"jsonrpc":"2.0","id":1,"method":"tools/list","__proto__":{"a":1}}', 400, -32_700],
    ['no JSON', '{"jsonrpc":', 400, -32_700],
  ])('%s: an error of JSON-RPC on both servers', async (_, body, status, code) => {
    const { apiKey } = await makeAgent(market)
    for (const path of ['/mcp', '/api/x402/mcp']) {
      const reply = await post(`${market.url}${path}`, body, withKey(apiKey))
      expect([reply.status, reply.body]).toMatchObject([
        status,
        { jsonrpc: '2.0', id: null, error: { code } },
      ])
    }
  })

  test('another content type is 415', async () => {
    const { apiKey } = await makeAgent(market)
    const reply = await post(url, '{}', { ...withKey(apiKey), 'content-type': 'text/plain' })
    expect([reply.status, reply.body.error.code]).toEqual([415, -32_000])
  })
})

describe('messages', () => {
  const pings = (count: number) => Array.from({ length: count }, (_, id) => message('ping', {}, id))
  /** Sends so many pings, and returns how many were rejected. */
  const sendPings = async (count: number, headers: Readonly<Record<string, string>>) => {
    const sizes = Array.from({ length: Math.ceil(count / 10) }, (_, at) => Math.min(10, count - at * 10))
    const replies = await Promise.all(sizes.map((size) => post(url, pings(size), headers)))
    return replies.filter(({ status }) => status === 429).length
  }
  const hello = {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
  }

  test.each([
    ['tools/list', {}],
    ['ping', {}],
    ['initialize', hello],
  ])('%s: the 601st message of a credential in a minute returns 429', async (method, params) => {
    const { apiKey } = await makeAgent(market)
    expect(await sendPings(599, withKey(apiKey))).toBe(0)
    expect((await post(url, message(method, params), withKey(apiKey))).status).toBe(200)
    const reply = await post(url, message(method, params), withKey(apiKey))
    expect([reply.status, reply.body.error.code]).toEqual([429, -32_000])
    expect(reply.headers.get('x-ratelimit-limit')).toBe('600')
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('a batch counts for each of its messages', async () => {
    const { apiKey } = await makeAgent(market)
    expect(await sendPings(595, withKey(apiKey))).toBe(0)
    expect((await post(url, pings(6), withKey(apiKey))).status).toBe(429)
  })

  test('the keys of one address share twice the limit of one, and another address is served', async () => {
    const from = { 'x-forwarded-for': someAddress() }
    const keys = [await makeAgent(market), await makeAgent(market), await makeAgent(market)]
    const rejected: number[] = []
    for (const { apiKey } of keys) rejected.push(await sendPings(500, { ...withKey(apiKey), ...from }))
    expect(rejected).toEqual([0, 0, 30])
    expect(await sendPings(50, withKey(keys[2]?.apiKey ?? ''))).toBe(0)
  })

  test('the anonymous server counts messages by address', async () => {
    const from = { 'x-forwarded-for': someAddress() }
    const replies = await Promise.all(
      Array.from({ length: 601 }, () => post(`${market.url}/api/x402/mcp`, message('tools/list'), from)),
    )
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(1)
  })
})

test('tools: the keys of one address share twice the limit of an operation', async () => {
  const from = { 'x-forwarded-for': someAddress() }
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) {
    const { apiKey } = await makeAgent(market)
    for (let sent = 0; sent < 30; sent += 10) {
      const calls = Array.from({ length: 10 }, (_, id) => toolCall('market_poll_orders', {}, id))
      const { body } = await post(url, calls, { ...withKey(apiKey), ...from })
      statuses.push(...body.map(statusOf))
    }
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(60)
  expect(statuses.filter((status) => status === 429)).toHaveLength(30)
})

test('market_register_agent: the address has one limit, whichever keys it uses', async () => {
  const from = { 'x-forwarded-for': someAddress() }
  const register = async (apiKey: string) => {
    const args = { name: someName(), description: DESCRIPTION }
    const { body } = await post(url, toolCall('market_register_agent', args), { ...withKey(apiKey), ...from })
    return { status: statusOf(body), apiKey: body.result.structuredContent?.data.api_key as string }
  }
  let { apiKey } = await makeAgent(market)
  for (let n = 0; n < 5; n++) {
    const made = await register(apiKey)
    expect(made.status).toBe(200)
    apiKey = made.apiKey
  }
  expect((await register(apiKey)).status).toBe(429)
})
