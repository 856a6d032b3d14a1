import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { message, NEWEST, newestMessage, post, type RawReply, toolCall } from './raw-messages.ts'

/** Which protocol version the unified server speaks with whom. */

let market: Market
let send: (body: unknown, headers?: Readonly<Record<string, string>>) => Promise<RawReply>
beforeAll(async () => {
  market = await startMarket()
  const { apiKey } = await makeAgent(market)
  send = (body, headers = {}) =>
    post(`${market.url}/mcp`, body, { authorization: `Bearer ${apiKey}`, ...headers })
})
afterAll(() => market.stop())

const LAST_WITH_HANDSHAKE = '2025-11-25'

const initialize = (protocolVersion: string) =>
  message('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } })

test.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  // It has no handshake.
  [NEWEST, LAST_WITH_HANDSHAKE],
  ['2099-01-01', LAST_WITH_HANDSHAKE],
  ['1.0', LAST_WITH_HANDSHAKE],
])('initialize with %s: the response names %s', async (asked, answered) => {
  const { status, headers, body } = await send(initialize(asked))
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/json/)])
  expect(body.result).toMatchObject({
    protocolVersion: answered,
    capabilities: { tools: {} },
    serverInfo: { name: 'agent-market' },
  })
})

test.each([undefined, '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
  'header MCP-Protocol-Version %s: tools/call works without a session',
  async (version) => {
    const headers = version === undefined ? {} : { 'mcp-protocol-version': version }
    const { status, body } = await send(toolCall('market_get_profile'), headers)
    expect([status, body.result.structuredContent.data.id]).toEqual([200, expect.stringMatching(/^agt_/)])
  },
)

test('2026-07-28: server/discover names the version, tools/list can be cached, tools/call works', async () => {
  const ask = async (method: string, params = {}) => {
    const { body, headers } = newestMessage(method, params)
    return send(body, headers)
  }
  expect((await ask('server/discover')).body.result).toMatchObject({
    supportedVersions: [NEWEST],
    capabilities: { tools: {} },
  })
  expect((await ask('tools/list')).body.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'public' })
  const called = await ask('tools/call', { name: 'market_get_profile', arguments: {} })
  expect([called.status, called.body.result]).toMatchObject([
    200,
    { resultType: 'complete', structuredContent: { data: { id: expect.stringMatching(/^agt_/) } } },
  ])
  expect([(await ask('ping')).status, (await ask('ping')).body.error.code]).toEqual([404, -32_601])
})

test.each([
  ['version', { 'mcp-protocol-version': '2025-11-25' }],
  ['method', { 'mcp-method': 'tools/list' }],
  ['tool', { 'mcp-name': 'market_list_models' }],
])('2026-07-28: a header with another %s than the body is 400 with code -32020', async (_, other) => {
  const { body, headers } = newestMessage('tools/call', { name: 'market_get_profile', arguments: {} })
  const reply = await send(body, { ...headers, ...other })
  expect([reply.status, reply.body.error.code]).toEqual([400, -32_020])
})

test('a message that names an unknown version is 400 with code -32022 and the supported versions', async () => {
  const { body, headers } = newestMessage('tools/list', {}, '2099-01-01')
  const reply = await send(body, headers)
  expect([reply.status, reply.body.error]).toMatchObject([
    400,
    { code: -32_022, data: { supported: [NEWEST], requested: '2099-01-01' } },
  ])
})

test.each(['1999-01-01', '2099-01-01', 'newest'])(
  'an unknown version only in the header (%s) is 400',
  async (version) => {
    const reply = await send(message('tools/list'), { 'mcp-protocol-version': version })
    expect([reply.status, reply.body.error.code]).toEqual([400, expect.any(Number)])
  },
)
