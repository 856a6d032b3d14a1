import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainCallOf } from '../../packages/mcp/src/plain-call.ts'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { NEWEST, newestMessage, post, toolCall } from './raw-messages.ts'

/** Calls in their plainest form are served without the SDK, and nobody can tell. */

type Headers = Readonly<Record<string, string>>

let market: Market
let credential: Headers
beforeAll(async () => {
  market = await startMarket()
  const { apiKey } = await makeAgent(market, { ai_models: ['model-one'] })
  credential = { authorization: `Bearer ${apiKey}` }
})
afterAll(() => market.stop())

const JSON_TYPE = { 'content-type': 'application/json' }
/** The same type to HTTP, but not in the plainest form. */
const SAME_TYPE = { 'content-type': 'application/json;charset=utf-8' }

const CALLS = [
  ['a profile', 'market_get_profile', {}],
  ['a list with text of others', 'market_list_models', { limit: 5 }],
  ['a write', 'market_update_profile', { description: 'Writes and reviews TypeScript, slowly.' }],
  ['an error of the operation', 'market_get_order', { order_id: 'ord_1_0000000000000000a' }],
  ['arguments that the tool does not accept', 'market_get_order', { order: 'ord_1' }],
  ['a tool that always fails', 'market_verify_twitter', {}],
] as const

const olderCall = (version: string | undefined) => (name: string, args: object, id: string | number) => ({
  body: toolCall(name, args as Record<string, unknown>, id, {
    'market/idempotency-key': 'one-key-for-both-calls',
  }),
  headers: (version === undefined ? {} : { 'mcp-protocol-version': version }) as Headers,
})
const newestCall = (name: string, args: object, id: string | number) => {
  const { body, headers } = newestMessage('tools/call', {
    name,
    arguments: args,
    _meta: { 'market/idempotency-key': 'one-key-for-both-calls' },
  })
  return { body: { ...body, id }, headers: headers as Headers }
}

describe.each([
  ['no version', olderCall(undefined)],
  ['2025-03-26', olderCall('2025-03-26')],
  ['2025-06-18', olderCall('2025-06-18')],
  ['2025-11-25', olderCall('2025-11-25')],
  [NEWEST, newestCall],
] as const)('%s', (_version, callOf) => {
  test.each(CALLS)('%s: the response is the one of the SDK', async (_what, name, args) => {
    const { body, headers } = callOf(name, args, 'an id')
    expect(plainCallOf({ ...headers, ...JSON_TYPE }, body)).toBeDefined()
    expect(plainCallOf({ ...headers, ...SAME_TYPE }, body)).toBeUndefined()
    const send = (type: Headers) => post(`${market.url}/mcp`, body, { ...credential, ...headers, ...type })
    const [plain, sdk] = [await send(JSON_TYPE), await send(SAME_TYPE)]
    expect(withoutRequestId(plain.body)).toEqual(withoutRequestId(sdk.body))
    expect(plain.body.id).toBe('an id')
    expect(plain.status).toBe(sdk.status)
    expect(namesOf(plain.headers)).toEqual(namesOf(sdk.headers))
    expect(plain.headers.get('content-type')).toBe(sdk.headers.get('content-type'))
  })
})

/** Every error names its own request. */
const withoutRequestId = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'request'))

const namesOf = (headers: globalThis.Headers) =>
  [...headers.keys()].filter((name) => !['keep-alive', 'connection', 'date'].includes(name)).toSorted()

describe('what differs in the least is left to the SDK', () => {
  const { body: newest, headers: named } = newestMessage('tools/call', {
    name: 'market_get_profile',
    arguments: {},
  })
  const { _meta } = newest.params as { readonly _meta: Readonly<Record<string, unknown>> }
  const older = toolCall('market_get_profile')
  const PREFIX = 'io.modelcontextprotocol/'
  const withMeta = (more: object) => ({
    ...newest,
    params: { ...newest.params, _meta: { ..._meta, ...more } },
  })
  const rows: readonly (readonly [string, Headers, unknown])[] = [
    ['a batch', {}, [older]],
    ['another method', {}, { ...older, method: 'tools/list' }],
    ['a notification', {}, { jsonrpc: '2.0', method: 'tools/call', params: older.params }],
    ['an id of null', {}, { ...older, id: null }],
    ['an id that is no integer', {}, { ...older, id: 1.5 }],
    ['another JSON-RPC', {}, { ...older, jsonrpc: '1.0' }],
    ['an unknown field of the message', {}, { ...older, extra: 1 }],
    ['an unknown field of the call', {}, { ...older, params: { ...older.params, task: {} } }],
    ['an unknown tool', {}, toolCall('market_nothing')],
    ['arguments that are a list', {}, { ...older, params: { name: 'market_get_profile', arguments: [] } }],
    ['a progress token', {}, toolCall('market_get_profile', {}, 1, { progressToken: 1 })],
    ['a session of an older version', { 'mcp-session-id': 'one' }, older],
    ['an unknown version', { 'mcp-protocol-version': '2099-01-01' }, older],
    ['the oldest version', { 'mcp-protocol-version': '2024-11-05' }, older],
    ['an envelope without its header', {}, newest],
    ['a header without its envelope', named, older],
    ['a header of another method', { ...named, 'mcp-method': 'tools/list' }, newest],
    ['a header of another tool', { ...named, 'mcp-name': 'market_list_models' }, newest],
    ['an envelope of another version', named, withMeta({ [`${PREFIX}protocolVersion`]: '2025-11-25' })],
    ['an envelope without a client', named, withMeta({ [`${PREFIX}clientInfo`]: undefined })],
    ['a client without a version', named, withMeta({ [`${PREFIX}clientInfo`]: { name: 'test' } })],
    [
      'a client with icons',
      named,
      withMeta({ [`${PREFIX}clientInfo`]: { name: 't', version: '1', icons: [] } }),
    ],
    [
      'a capability with settings',
      named,
      withMeta({ [`${PREFIX}clientCapabilities`]: { roots: { listChanged: true } } }),
    ],
    ['an unknown field of the envelope', named, withMeta({ [`${PREFIX}logLevel`]: 'debug' })],
    ['no object', {}, 'text'],
  ]
  test('the two calls that the rows change are plain', () => {
    expect(plainCallOf(JSON_TYPE, older)).toBeDefined()
    expect(plainCallOf({ ...JSON_TYPE, ...named }, newest)).toBeDefined()
  })
  test.each(rows)('%s', (_what, headers, body) => {
    expect(plainCallOf({ ...JSON_TYPE, ...headers }, body)).toBeUndefined()
  })
})

test('a plain call counts as a message and against the limit of its operation, and needs a credential', async () => {
  const { apiKey } = await makeAgent(market)
  const send = (headers: Headers) => post(`${market.url}/mcp`, toolCall('market_get_profile'), headers)
  expect((await send({})).status).toBe(401)
  const authorization = `Bearer ${apiKey}`
  const replies = await Promise.all(Array.from({ length: 601 }, () => send({ authorization })))
  const rejected = replies.filter(({ status }) => status === 429)
  expect(rejected).toHaveLength(1)
  expect(rejected[0]?.body).toMatchObject({ jsonrpc: '2.0', error: { code: -32_000 } })
})
