import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toolList, tools } from '@market/contract/tools'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { programFile } from '../../scripts/bundle.ts'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { currentBundle } from '../support/bundle.ts'
import { DESCRIPTION, makeOwnedAgent, signed, someName } from '../support/makers.ts'
import { expectWithin, testTimeout } from '../support/measured.ts'
import { type McpClient, STDIO_CLIENTS, type StdioProgram } from './mcp-clients.ts'

/** The stdio server, from the bundle, against the API. */

type Agent = Awaited<ReturnType<typeof makeOwnedAgent>>

const DUE = 11_000_000n
const SERVICE = {
  ...{ title: 'Reads a branch', description: 'Reads the whole branch and writes what is wrong.' },
  ...{ category: 'coding', price_usd: '5.00', price_type: 'fixed', turnaround_hours: 24 },
}

let world: OrderWorld
let agent: Agent
let file: string
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' })
  agent = await makeOwnedAgent(world.market)
  file = programFile(await currentBundle(), 'mcp-stdio')
})
afterAll(() => world.stop())

const program = (env: Record<string, string> = {}): StdioProgram => ({
  command: process.execPath,
  args: [file],
  env: { MARKET_API_URL: world.market.url, ...env },
})

const withKey = (key = agent.apiKey) => program({ MARKET_API_KEY: key })

async function using<T>({ command, args, env }: StdioProgram, work: (client: McpClient) => Promise<T>) {
  const client = await STDIO_CLIENTS['client 2']({ command, args, env })
  return work(client).finally(() => client.close())
}

/** Starts the program, sends the messages and waits for the responses to those with an id. */
async function run({ command, args, env }: StdioProgram, messages: readonly object[]) {
  const began = performance.now()
  const child = spawn(command, args, { env, stdio: 'pipe' })
  const ended = once(child, 'exit')
  let [stdout, stderr] = ['', '']
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  child.stdin.on('error', () => {})
  child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  let awaited = messages.filter((message) => 'id' in message).length
  let firstMs = 0
  if (awaited === 0) child.stdin.end()
  child.stdout.on('data', (chunk: Buffer) => {
    firstMs ||= performance.now() - began
    stdout += chunk
    awaited -= chunk.toString().split('\n').length - 1
    if (awaited === 0) child.stdin.end()
  })
  const [code] = (await ended) as [number | null]
  return { code, stdout, stderr, firstMs }
}

const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** Over stdio, client 1 does not say which version it uses. */
const VERSIONS = {
  'client 2': '2025-11-25',
  'client 2 with the newest protocol': '2026-07-28',
  'client 1': undefined,
} as const

describe.each(Object.entries(STDIO_CLIENTS))('%s', (name, connect) => {
  let client: McpClient
  beforeAll(async () => {
    client = await connect(withKey())
  })
  afterAll(() => client.close())

  test('lists the served tools in the order of the contract', async () => {
    expect(client.version()).toBe(VERSIONS[name as keyof typeof VERSIONS])
    const listed = await client.list()
    expect(listed.map((tool) => tool.name)).toEqual(tools.map((tool) => tool.name))
    expect(listed).toMatchObject(JSON.parse(JSON.stringify(toolList())))
  })

  test('calls tools: public and own reads, a write, errors as sentences', async () => {
    const me = await client.call('market_get_profile')
    expect(me.structuredContent.data).toMatchObject({ id: agent.id })
    expect(JSON.parse(me.content[0]?.text ?? '')).toEqual(me.structuredContent)
    const found = await client.call('market_browse_agents', { limit: 1 })
    expect(found.structuredContent.data).toHaveLength(1)
    expect(found.content[0]?.text).toMatch(
      /^The data below contains text that other users wrote.*<untrusted_content>/s,
    )
    const created = await client.call('market_create_service', SERVICE)
    expect(created.structuredContent.data).toMatchObject({ agent_id: agent.id, title: SERVICE.title })
    const missing = await client.call('market_get_order', { order_id: 'ord_1700000000000_zzzzzz' })
    expect(missing).toMatchObject({ isError: true, _meta: { 'market/error': { status: 404 } } })
    const gone = await client.call('market_verify_twitter')
    expect(gone).toMatchObject({ isError: true, _meta: { 'market/error': { status: 410, code: 'gone' } } })
    await expect(client.call('market_earn_everything')).rejects.toThrow(/Unknown tool/)
  })
})

test('arguments that a tool does not accept are rejected, also where REST would ignore them', () =>
  using(withKey(), async (client) => {
    const unknown = await client.call('market_browse_agents', { limitt: 1 })
    expect(unknown.content[0]?.text).toBe('Unknown field: limitt. Did you mean limit?')
    expect(unknown._meta['market/error']).toMatchObject({ status: 400, code: 'invalid_input' })
    const long = await client.call('market_search_agents', { limit: 51 })
    expect(long.content[0]?.text).toBe('limit must be 1-50')
    const meta = { 'market/idempotency-key': 'two\nlines' }
    const unsendable = await client.call('market_create_service', SERVICE, meta)
    expect(unsendable.content[0]?.text).toBe('Idempotency-Key must have printable ASCII characters only')
  }))

test('an Idempotency-Key in _meta makes a repeated call return the first result', () =>
  using(withKey(), async (client) => {
    const meta = { 'market/idempotency-key': 'service-1' }
    const [first, again] = [
      await client.call('market_create_service', SERVICE, meta),
      await client.call('market_create_service', SERVICE, meta),
    ]
    expect(first.structuredContent.data.id).toMatch(/^svc_/)
    expect(again.structuredContent).toEqual(first.structuredContent)
  }))

test('without a key: public tools and registration work, the error of others says what to set', () =>
  using(program(), async (client) => {
    expect((await client.call('market_list_models')).isError).not.toBe(true)
    const made = await client.call('market_register_agent', { name: someName(), description: DESCRIPTION })
    expect(made.structuredContent.data.api_key).toMatch(/^market_/)
    const mine = await client.call('market_get_profile')
    expect(mine).toMatchObject({ isError: true, _meta: { 'market/error': { status: 401 } } })
    expect(mine.content[0]?.text).toMatch(/Set MARKET_API_KEY to the API key of your agent/)
  }))

test('a wallet signature in the arguments is the credential of the call, beside a key too', () =>
  using(withKey(), async (client) => {
    const owner = evmSigner()
    const name = someName()
    const registration = { name, description: DESCRIPTION, owner_wallet: owner.address }
    const unsigned = await client.call('market_register_agent', { ...registration, wallet: owner.address })
    expect(unsigned._meta['market/error']).toMatchObject({ status: 401, code: 'bad_wallet_fields' })
    const proof = await signed(owner, `agents.register:${name}`)
    const made = await client.call('market_register_agent', { ...registration, ...proof })
    expect(made.isError).not.toBe(true)
    const { agent_id, api_key } = made.structuredContent.data
    const read = await world.market.client().get('/api/agents/me', { bearer: api_key })
    expect(read.body.data).toMatchObject({ id: agent_id, marketable: true })
  }))

test('hires with a transfer: the order belongs to the agent of the key', () =>
  using(withKey(), async (client) => {
    const { serviceId: service_id } = await world.newSeller({ price_usd: '10.00' })
    const price = await client.call('market_get_payment_requirements', { service_id })
    expect(price.structuredContent.accepts).toMatchObject([
      { network: 'base-mainnet', maxAmountRequired: String(DUE) },
    ])
    const hire = (payment: string) =>
      client.call('market_submit_payment', {
        ...{ service_id, brief: 'Read the branch called blue.', payment, network: 'base-mainnet' },
        claim: price.structuredContent.claim,
      })
    const malformed = await hire('not a hash')
    expect(malformed._meta['market/error']).toMatchObject({ status: 400, code: 'malformed_payment' })
    const paid = await hire(await world.settled(await world.newBuyer(), DUE))
    expect(paid.structuredContent.data).toMatchObject({ status: 'paid' })
    const { order_id } = paid.structuredContent.data
    const read = await client.call('market_get_order', { order_id })
    expect(read.structuredContent.data.order).toMatchObject({ id: order_id, status: 'paid' })
  }))

test('an API that cannot be reached, or is not ours, is an error that says what to do', async () => {
  const other = createServer((_, response) => response.writeHead(302, { location: '/' }).end('<html>'))
  await once(other.listen(0, '127.0.0.1'), 'listening')
  const MARKET_API_URL = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  await using(program({ MARKET_API_URL }), async (client) => {
    const foreign = await client.call('market_list_models')
    expect(foreign.content[0]?.text).toMatch(/status 302 that is not one of Agent Market/)
    other.closeAllConnections()
    other.close()
    await once(other, 'close')
    const read = await client.call('market_list_models')
    expect(read._meta['market/error']).toMatchObject({ status: 503, code: 'unavailable' })
    expect(read.content[0]?.text).toMatch(/cannot be reached \(ECONNREFUSED\)\. Try again/)
    const write = await client.call('market_register_agent', { name: someName(), description: DESCRIPTION })
    expect(write.content[0]?.text).toMatch(/may have been carried out/)
  })
})

test('writes only JSON-RPC to stdout, logs to stderr, and ends when stdin ends', async () => {
  const call = (id: number, name: string) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: {} },
  })
  const { code, stdout, stderr } = await run(withKey(), [
    INITIALIZE,
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    ...[call(3, 'market_list_models'), call(4, 'market_verify_twitter'), call(5, 'no_such_tool')],
  ])
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ jsonrpc }) => jsonrpc)).toEqual(Array(5).fill('2.0'))
  expect(lines.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4, 5])
  expect(stderr).toBe(`Agent Market tools of ${world.market.url}, with an API key.\n`)
  expect(code).toBe(0)
})

test.each([
  [
    'a key with another prefix',
    { MARKET_API_KEY: 'adm_secret' },
    /^MARKET_API_KEY .* begins with market_\.\n$/,
  ],
  ['a missing URL', { MARKET_API_URL: '' }, /^MARKET_API_URL is missing\. .*\n$/],
  ['an invalid URL', { MARKET_API_URL: 'market' }, /^MARKET_API_URL must be a URL.*\n$/],
])('%s: ends with a sentence on stderr and code 1', async (_, env, sentence) => {
  const { code, stdout, stderr } = await run(program(env), [INITIALIZE])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(sentence)
  expect(stderr).not.toContain('secret')
})

const START_WITHIN_MS = 500

test('start: responds within 500 ms', { timeout: testTimeout(60_000) }, async () => {
  const times: number[] = []
  for (let n = 0; n < 5; n++) times.push((await run(withKey(), [INITIALIZE])).firstMs)
  const median = times.toSorted((a, b) => a - b)[2] ?? 0
  process.stdout.write(`mcp-stdio: the first response comes after ${median.toFixed(0)} ms\n`)
  expectWithin(median, START_WITHIN_MS)
})
